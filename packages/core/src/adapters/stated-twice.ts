import { clip } from '../json/clip.ts'
import { readStrict } from '../json/strict.ts'
import type { StrictResult } from '../json/strict.ts'
import type { ServerSentEvent } from '../sse/event.ts'
import { argumentText } from './argument-value.ts'
import type { ArgumentValue, ValuePlace } from './argument-value.ts'

/**
 * Why a call can't be trusted that this event opens or closes: `JSON.parse` keeps the last of two equal keys without a word, and
 * another reader the first one, so a call with two names is two calls. Undefined where each key stands once.
 *
 * It reads the whole text of the event again. That is meant for the few events that are about one call, never for its pieces.
 *
 * @param pointers JSON Pointers of what is said of the call, each with all that is in it; `''` is the whole event, `*` any item of a list
 */
export function statedTwice(event: ServerSentEvent, pointers: readonly string[]): string | undefined {
  for (const read of readsOf(event)) {
    const twice = twiceIn(read, pointers)
    if (twice !== undefined) return twice
  }
  return undefined
}

/** One event may hold many calls, and be asked for several reasons: its text is read once. */
const known = new WeakMap<ServerSentEvent, readonly StrictResult[]>()

function readsOf(event: ServerSentEvent): readonly StrictResult[] {
  const before = known.get(event)
  if (before !== undefined) return before
  const whole = readKeys(event.data)
  // Events that a hop glued together are read line by line (see payload.ts), and so is this.
  const glued = !whole.ok && whole.code !== 'too_deep' && event.data.includes('\n')
  const reads = glued ? event.data.split('\n').map(readKeys) : [whole]
  known.set(event, reads)
  return reads
}

/** White space of any kind around a payload is none of its own (see payload.ts). */
function readKeys(text: string): StrictResult {
  return readStrict(text.trim(), { numbers: false })
}

/**
 * As {@link argumentText}, for a call that stands whole at this place: its name and id must be there once as well, whatever its
 * arguments are.
 */
export function argumentsOfCall(value: unknown, place: ValuePlace): ArgumentValue | undefined {
  const read = argumentText(value, place)
  if (read === undefined || read.unsafe !== undefined) return read
  const unsafe = statedTwice(place.event, [place.pointer])
  return unsafe === undefined ? read : { ...read, unsafe }
}

function twiceIn(read: StrictResult, pointers: readonly string[]): string | undefined {
  // What JSON.parse took and this refuses nests too deeply to be looked through.
  if (!read.ok) return read.code === 'too_deep' ? read.message : undefined
  const issue = read.issues.find(
    ({ code, path }) => code === 'duplicate_key' && pointers.some((pointer) => isAround(path, pointer)),
  )
  if (issue !== undefined)
    return `the key at ${clip(issue.path, 80)} is there twice, and which one counts depends on the reader`
  return read.issueCount > read.issues.length
    ? 'its event has more keys that are there twice than are looked at'
    : undefined
}

/** Does one of the two stand in the other? A pointer that is cut is too long for what a call has on its own level. */
function isAround(path: string, pointer: string): boolean {
  const at = pointer.includes('*') ? path.replace(/(?<=\/)\d+(?=\/|$)/g, '*') : path
  return at === pointer || at.startsWith(`${pointer}/`) || pointer.startsWith(`${at}/`)
}
