/**
 * Places where a process may die with the most to lose. In production a crash point costs one comparison; the crash tests
 * install a hook that kills the process there.
 */
export const CRASH_POINTS = [
  'turn.allocated',
  'gate.before',
  'gate.validated',
  'approval.stored',
  'approval.decided',
  'approval.consumed',
  'release.between-calls',
  'release.before-commit',
  'release.after-commit',
  'claim.before-commit',
  'claim.after-commit',
  'execute.before-entry',
  'execute.after-return',
  'finish.before-commit',
  'finish.after-commit',
  'heartbeat.before',
  'heartbeat.after',
  'sweep.before-commit',
  'sweep.after-commit',
  'reclaim.after-commit',
  'query.after-answer',
  'cancel.before-commit',
  'cancel.after-commit',
  'settle.before-commit',
  'migrate.between-statements',
] as const

export type CrashPoint = (typeof CRASH_POINTS)[number]

export type CrashHook = (point: CrashPoint) => void | Promise<void>

let hook: CrashHook | undefined

/** For tests. `undefined` takes the hook away. */
export function installCrashHook(next: CrashHook | undefined): void {
  hook = next
}

/** Does nothing unless a test has installed a hook. */
export function crashPoint(point: CrashPoint): void | Promise<void> {
  if (hook !== undefined) return hook(point)
}
