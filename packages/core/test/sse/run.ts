import { createEventStreamParser } from '../../src/sse/index.ts'
import type { EventStreamParserOptions, ServerSentEvent } from '../../src/sse/index.ts'
import { byteByByte, cutAt } from '../reads.ts'

/** All that a parser tells about a body. */
export interface Parsed {
  events: ServerSentEvent[]
  lastEventId: string | undefined
  retry: number | undefined
  counts: { bytes: number; events: number; comments: number; unknownFields: number }
  overflow: { offset: number; limit: number } | undefined
  invalidUtf8: { count: number; firstOffset: number } | undefined
  firstUnknownField: string | undefined
}

export function parse(reads: readonly Uint8Array[], options?: EventStreamParserOptions): Parsed {
  const parser = createEventStreamParser(options)
  const events: ServerSentEvent[] = []
  for (const read of reads) {
    // The caller's memory is the caller's: what the parser keeps of it must be a copy.
    const lent = read.slice()
    events.push(...parser.push(lent))
    lent.fill(0x21)
  }
  events.push(...parser.end())
  const { lastEventId, retry, counts, overflow, invalidUtf8, firstUnknownField } = parser
  return { events, lastEventId, retry, counts, overflow, invalidUtf8, firstUnknownField }
}

/** Text as UTF-8, numbers as bytes. */
export function bytesOf(...parts: readonly (string | readonly number[])[]): Uint8Array {
  const encoder = new TextEncoder()
  return Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...encoder.encode(part)] : part)))
}

const EVERY_PAIR_BYTES = 24

/** Whole, cut at every byte, at every pair of bytes when short, byte by byte without and with empty reads between. */
export function* everyCut(body: Uint8Array): Generator<{ cut: string; reads: Uint8Array[] }> {
  yield { cut: 'whole', reads: [body] }
  for (let at = 1; at < body.length; at++) yield { cut: `at ${at}`, reads: cutAt(body, [at]) }
  if (body.length <= EVERY_PAIR_BYTES) {
    for (let first = 1; first < body.length; first++) {
      for (let second = first + 1; second < body.length; second++) {
        yield { cut: `at ${first} and ${second}`, reads: cutAt(body, [first, second]) }
      }
    }
  }
  const single = byteByByte(body)
  yield { cut: 'byte by byte', reads: single }
  const empty = new Uint8Array(0)
  yield { cut: 'byte by byte, empty reads between', reads: [empty, ...single.flatMap((read) => [read, empty, empty])] }
}

export interface CutAnswer {
  /** The first cut that gives this answer. */
  cut: string
  answer: unknown
}

/** The different answers that the ways of cutting a body give. There should be one: `always(…)`. */
export function atEveryCut(body: Uint8Array, ask: (reads: Uint8Array[]) => unknown): CutAnswer[] {
  const answers = new Map<string, CutAnswer>()
  for (const { cut, reads } of everyCut(body)) {
    const answer = ask(reads)
    const key = JSON.stringify(answer, (_, value: unknown) => (value === undefined ? 'undefined' : value)) ?? ''
    if (!answers.has(key)) answers.set(key, { cut, answer })
  }
  return [...answers.values()]
}

export function always(answer: unknown): CutAnswer[] {
  return [{ cut: 'whole', answer }]
}
