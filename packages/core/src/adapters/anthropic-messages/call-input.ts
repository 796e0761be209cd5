import { readStrict } from '../../json/strict.ts'
import { isRecord } from '../../json/value.ts'

/** `input` of a block start. Nearly always the empty object, with the real input in deltas; sometimes all of it (fault F161). */
export interface StartInput {
  /** The input as JSON text, `''` when the start says nothing. */
  readonly text: string
  /** It came as a JSON value, and was serialised once. */
  readonly serialised: boolean
  /** The start has the field. It nearly always does; where not even a delta follows, the input is unknown, not empty. */
  readonly stated: boolean
  /** Why it can't be trusted. */
  readonly unsafe?: string
}

/** The start says nothing of the input. */
export const NOTHING: StartInput = { text: '', serialised: false, stated: false }
const EMPTY: StartInput = { ...NOTHING, stated: true }

/**
 * @param eventText the text of the whole event: its own parse has already rounded and deduplicated what it holds
 * @returns a sentence when the input can't be written down as text
 */
export function readStartInput(input: unknown, eventText: string): StartInput | string {
  if (input === undefined || input === null) return NOTHING
  if (isEmptyObject(input)) return EMPTY
  if (typeof input === 'string') return { text: input, serialised: false, stated: true }
  let text: string
  try {
    text = JSON.stringify(input)
  } catch {
    return 'the input of a call is nested too deeply to be written down'
  }
  const read = readStrict(eventText)
  if (read.ok && read.issues.length === 0) return { text, serialised: true, stated: true }
  const unsafe = 'the input came as a JSON value with a number that would be rounded or a key that is there twice'
  return { text, serialised: true, stated: true, unsafe }
}

/** Do two JSON texts say the same, whatever the order of keys and the white space? */
export function isSameInput(a: string, b: string): boolean {
  try {
    return sorted(JSON.parse(a)) === sorted(JSON.parse(b))
  } catch {
    return false
  }
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )
}

function isEmptyObject(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0
}
