import type { Recording } from 'streamfold/recording'
import { recordingOfBody } from '../src/replay/replay-script.ts'

/** A body of Chat Completions events; strings go as they are. */
export function sse(...events: readonly (object | string)[]): string {
  return events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('')
}

export function delta(fields: object, finish: string | null = null): object {
  return { id: 'c', model: 'm', choices: [{ index: 0, delta: fields, finish_reason: finish }] }
}

export function call(index: number, argumentsText: string, id?: string, name?: string): object {
  const start = id === undefined ? {} : { id, type: 'function' }
  return delta({
    tool_calls: [{ index, ...start, function: { ...(name !== undefined && { name }), arguments: argumentsText } }],
  })
}

/** Text, then two calls whose fragments take turns, each in three pieces, with a character of three bytes. */
export const TWO_CALLS: string = sse(
  delta({ role: 'assistant', content: 'So: 日本' }),
  call(0, '', 'call_a', 'add'),
  call(1, '', 'call_b', 'sub'),
  call(0, '{"a":'),
  call(1, '{"b":'),
  call(0, '1}'),
  call(1, '2}'),
  delta({}, 'tool_calls'),
  '[DONE]',
)

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function bodyRecording(text: string): Recording {
  return recordingOfBody(bytesOf(text), 'chat_completions')
}

/** A recording of these reads, 10 ms apart, behind a head at 100 ms. */
export function recordingOf(
  reads: readonly (string | Uint8Array)[],
  { url = 'https://api.example.com/v1/chat/completions', body, id, end = 'complete' }: RecordedAs = {},
): Recording {
  const request = {
    t: 'req',
    line: 2,
    atUs: 0,
    method: 'POST',
    url,
    headers: [],
    ...(body !== undefined && { body: bytesOf(JSON.stringify(body)) }),
  } as const
  const headers = [
    ['Content-Type', 'text/event-stream'],
    ['X-Request-Id', 'req_1'],
    ['Transfer-Encoding', 'chunked'],
    ['Content-Encoding', 'br'],
  ] as const
  let offset = 0
  const all = reads.map((read, i) => {
    const bytes = typeof read === 'string' ? bytesOf(read) : read
    const line = { t: 'b', line: 4 + i, atUs: 110_000 + i * 10_000, offset, bytes } as const
    offset += bytes.length
    return line
  })
  const head = {
    t: 'head',
    line: 1,
    version: 1,
    body: 'decoded',
    timing: 'exact',
    ...(id !== undefined && { id }),
  } as const
  const response = { t: 'res', line: 3, atUs: 100_000, status: 200, headers } as const
  const last = { t: 'end', line: 4 + reads.length, atUs: 110_000 + reads.length * 10_000, kind: end } as const
  return { head, request, response, reads: all, end: last, lines: [head, request, response, ...all, last] }
}

export interface RecordedAs {
  readonly url?: string
  readonly body?: unknown
  readonly id?: string
  readonly end?: 'complete' | 'cut' | 'reset' | 'timeout' | 'aborted'
}
