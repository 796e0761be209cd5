import type { Outcome } from 'streamfold'

/** What the process says with its exit status; scripts rely on these numbers. */
export const EXIT = {
  /** Ran, and the verdict is as wanted. */
  wanted: 0,
  /** Ran, and the verdict is not as wanted. */
  unwanted: 1,
  usage: 2,
  /** Missing file, corrupt recording, unknown format. */
  unreadableInput: 3,
  /** The endpoint can't be reached or refuses the key. */
  endpoint: 4,
  /** A mistake in streamfold itself. */
  bug: 5,
  /** By SIGINT, as shells count it. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

const WANTED: ReadonlySet<Outcome> = new Set(['completed', 'degraded', 'empty'])

/** `degraded` and `empty` are usable answers with a finding; `strict` wants proof of a whole one. */
export function isWanted(outcome: Outcome | null, strict: boolean): boolean {
  return outcome !== null && (strict ? outcome === 'completed' : WANTED.has(outcome))
}

/** The greater number is the worse end. */
export function worse(a: ExitCode, b: ExitCode): ExitCode {
  return a > b ? a : b
}
