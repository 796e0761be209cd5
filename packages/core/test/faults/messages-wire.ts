import { expect } from 'vitest'
import { anthropicMessages } from '../../src/adapters/anthropic-messages/adapter.ts'
import { readPieces, run } from './run.ts'
import type { Run, RunOptions } from './run.ts'
import { bytesOf } from './wire.ts'
import type { Json } from './wire.ts'

/** Builders of Messages wire text, so that a row of the catalogue reads like its own wire. */

type Event = Record<string, Json>

/** Events under their names, as Anthropic sends them; text stands for itself. */
export function stream(...events: readonly (Event | string)[]): string {
  return events
    .map((event) =>
      typeof event === 'string' ? event : `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`,
    )
    .join('')
}

export function readMessages(body: string | Uint8Array, options: RunOptions = {}): Run {
  const { profile, ...rest } = options
  const result = run(body, { adapter: anthropicMessages(profile), ...rest })
  const bytes = typeof body === 'string' ? bytesOf(body) : body
  const plain = readPieces([bytes], { adapter: anthropicMessages(profile, { template: false }), ...rest })
  expect(plain, 'read without templates it must come to the same').toEqual(result)
  return result
}

export const USAGE_AT_START = { input_tokens: 25, output_tokens: 1 }

export function start(extra: Event = {}): Event {
  return {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm-1',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: USAGE_AT_START,
      ...extra,
    },
  }
}

export function open(index: Json, contentBlock: Json): Event {
  return { type: 'content_block_start', ...(index !== undefined && { index }), content_block: contentBlock }
}

export function delta(index: Json, value: Json): Event {
  return { type: 'content_block_delta', ...(index !== undefined && { index }), delta: value }
}

export function close(index: Json): Event {
  return { type: 'content_block_stop', ...(index !== undefined && { index }) }
}

export const openText = (index: Json, text: Json = ''): Event => open(index, { type: 'text', text })
export const text = (index: Json, value: Json): Event => delta(index, { type: 'text_delta', text: value })
export const thinking = (index: Json, value: Json): Event => delta(index, { type: 'thinking_delta', thinking: value })
export const openTool = (index: Json, id: Json, name: Json, input: Json = {}, extra: Event = {}): Event =>
  open(index, { type: 'tool_use', id, name, input, ...extra })
export const input = (index: Json, json: Json): Event => delta(index, { type: 'input_json_delta', partial_json: json })

/** A whole text block. */
export const said = (index: number, value: string): readonly Event[] => [
  openText(index),
  text(index, value),
  close(index),
]
/** A whole call. */
export const called = (index: number, id: string, name: string, json: string): readonly Event[] => [
  openTool(index, id, name),
  input(index, json),
  close(index),
]

export function finish(reason: Json, outputTokens = 15, extra: Event = {}): Event {
  return {
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null, ...extra },
    usage: { output_tokens: outputTokens },
  }
}

export const STOP: Event = { type: 'message_stop' }
export const PING: Event = { type: 'ping' }

export function failure(type: string, message = 'sorry'): Event {
  return { type: 'error', error: { type, message } }
}
