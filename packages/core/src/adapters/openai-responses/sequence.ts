import type { AdapterOutput } from '../adapter.ts'
import { wireIndex } from './wire.ts'

/** How many events back a copy is still told from another event. */
const WINDOW = 64
/** Longer events are compared by a hash of their text. */
const COMPARED_LENGTH = 4096

interface Seen {
  readonly number: number
  readonly type: string
  readonly place: unknown
  readonly text: string
}

/** What to do with an event: `ignore` it, for it came before, or `read` it. */
export type SequenceVerdict = 'read' | 'ignore'

/**
 * Checks `sequence_number`, which grows by one from event to event. A number that is left out is an event that was lost, a hole in
 * the evidence. A number that came before, with the same content, is an event delivered twice; with other content it says that two
 * streams were mixed or that this server does not count. Events without a number are not checked.
 */
export class SequenceCheck {
  readonly #after: number | undefined
  #first: number | undefined
  #last: number | undefined
  #ignored = false
  #recent: Seen[] = []
  #next = 0

  /** @param after the number after which a stored stream is resumed. */
  constructor(after: number | undefined) {
    this.#after = after
  }

  /** Another generation counts from its own beginning. */
  reset(): void {
    this.#first = undefined
    this.#last = undefined
    this.#recent = []
    this.#next = 0
  }

  check(
    event: Readonly<Record<string, unknown>>,
    type: string,
    isStart: boolean,
    data: string,
    out: AdapterOutput,
  ): SequenceVerdict {
    if (this.#ignored) return 'read'
    const number = wireIndex(event['sequence_number'])
    if (number === undefined) return 'read'
    if (number === 'unreadable') {
      out.note('unexpected_field', 'sequence_number')
      return 'read'
    }
    const seen = seenOf(number, type, event, data)
    const last = this.#last
    if (last === undefined) {
      this.#first = number
      // What came before the first event is only known where the first event is the start, or the caller named the last one.
      const due = this.#after !== undefined ? this.#after + 1 : 0
      if (number > due && !isStart) gap(due, number, out)
    } else if (number <= last) return this.#checkBack(seen, last, out)
    else if (number > last + 1) gap(last + 1, number, out)
    this.#last = number
    this.#keep(seen)
    return 'read'
  }

  #checkBack(seen: Seen, last: number, out: AdapterOutput): SequenceVerdict {
    const { number } = seen
    const known = this.#recent.filter((other) => other.number === number)
    if (known.some((other) => isCopy(other, seen))) {
      out.note('sequence_repeated', `number ${number}`)
      return 'ignore'
    }
    if (known.length > 0 && this.#first === last) {
      // It has never grown: this server sends the field and does not count.
      out.note('unexpected_field', 'sequence_number does not count')
      this.#ignored = true
      return 'read'
    }
    if (known.length > 0) {
      out.skipped.push({ message: `two different events have the sequence number ${number}: streams were mixed` })
      this.#keep(seen)
      return 'read'
    }
    if (this.#recent.length < WINDOW || this.#recent.some((other) => other.number < number)) {
      // It was missing before; that it comes now, out of its place, does not mend the order of what it holds.
      this.#keep(seen)
      return 'read'
    }
    out.note('sequence_repeated', `number ${number}`)
    out.skipped.push({ message: `the sequence number went back from ${last} to ${number}, too far to compare` })
    return 'ignore'
  }

  #keep(seen: Seen): void {
    this.#recent[this.#next] = seen
    this.#next = (this.#next + 1) % WINDOW
  }
}

function gap(from: number, to: number, out: AdapterOutput): void {
  const missing = to - from === 1 ? `number ${from}` : `numbers ${from} to ${to - 1}`
  out.note('sequence_gap', missing)
  out.skipped.push({ message: `events were lost on the way: sequence ${missing} never came` })
}

function seenOf(number: number, type: string, event: Readonly<Record<string, unknown>>, data: string): Seen {
  const { delta, output_index: place } = event
  // Padding of a delta (`obfuscation`) may differ from copy to copy.
  if (typeof delta === 'string') return { number, type, place, text: delta }
  return { number, type, place, text: data.length <= COMPARED_LENGTH ? data : hash(data) }
}

function isCopy(a: Seen, b: Seen): boolean {
  return a.type === b.type && a.place === b.place && a.text === b.text
}

/** FNV-1a and the length: an identifier, not a digest. */
function hash(text: string): string {
  let state = 0x811c9dc5
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  return `${state >>> 0}:${text.length}`
}
