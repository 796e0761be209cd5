import { createEventStreamEncoder } from 'streamfold/server'
import type { EncodableApi } from 'streamfold/server'
import type { FakeAnswer } from 'streamfold/testing'

/** A whole answer in the words of an API: the text, its events one by one. */
function events(api: EncodableApi): readonly string[] {
  const encoder = createEventStreamEncoder(api, { created: 1 })
  const text = [
    encoder.push({ type: 'start', id: 'r1', model: 'm' }),
    encoder.push({ type: 'text-delta', index: 0, text: 'Hel' }),
    encoder.push({ type: 'text-delta', index: 0, text: 'lo' }),
    encoder.push({ type: 'block-end', index: 0 }),
    encoder.push({ type: 'usage', usage: { inputTokens: 3, outputTokens: 2 } }),
    encoder.push({ type: 'finish', reason: 'stop', raw: 'stop' }),
    encoder.end(),
  ].join('')
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((event) => `${event}\n\n`)
}

const isEnd = (event: string): boolean =>
  /finish_reason":"|message_delta|message_stop|response\.completed|DONE/.test(event)

export const GOOD = (api: EncodableApi): FakeAnswer => ({ body: events(api).join('') })

/** Ways in which a stream breaks: none of them may be taken for an answer. */
export interface BrokenStream {
  readonly name: string
  readonly answer: (api: EncodableApi) => FakeAnswer
}

const beforeTheEnd = (api: EncodableApi): string =>
  events(api)
    .filter((event) => !isEnd(event))
    .join('')

/** How each API says that it failed. */
const ERROR: Readonly<Record<EncodableApi, string>> = {
  chat_completions: 'data: {"error":{"message":"overloaded","type":"server_error","code":null}}\n\n',
  responses:
    'event: error\ndata: {"type":"error","code":"server_error","message":"overloaded","sequence_number":99}\n\n',
  anthropic_messages:
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"overloaded"}}\n\n',
}

export const BROKEN: readonly BrokenStream[] = [
  { name: 'ends before the end', answer: (api) => ({ body: beforeTheEnd(api) }) },
  {
    name: 'is cut in an event',
    answer: (api) => ({ body: [`${beforeTheEnd(api)}data: {"type":"x`, { end: 'body' }] }),
  },
  { name: 'is reset', answer: (api) => ({ body: [beforeTheEnd(api), { end: 'reset' }] }) },
  { name: 'is closed in the middle', answer: (api) => ({ body: [beforeTheEnd(api), { end: 'cut' }] }) },
  { name: 'is empty', answer: () => ({ body: '' }) },
  { name: 'holds comments alone', answer: () => ({ body: ': wait\n\n: wait\n\n' }) },
  { name: 'holds an error', answer: (api) => ({ body: beforeTheEnd(api) + ERROR[api] }) },
  {
    name: 'holds an error in the words of another API, and [DONE]',
    answer: (api) => ({
      body: `${beforeTheEnd(api)}data: {"detail":"overloaded","status_code":503}\n\ndata: [DONE]\n\n`,
    }),
  },
  {
    name: 'is a page',
    answer: () => ({ headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Log in</title>' }),
  },
  {
    name: 'is plain text in events',
    answer: () => ({ body: 'data: 429 Too Many Requests\n\n' }),
  },
]

/** Never ends by itself. */
export const SILENT = (api: EncodableApi): FakeAnswer => ({ body: [beforeTheEnd(api), { end: 'silence' }] })
