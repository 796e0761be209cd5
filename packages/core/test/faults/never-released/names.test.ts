import { expect, test } from 'vitest'
import type { Api } from '../../../src/adapters/index.ts'
import { sse } from '../wire.ts'
import type { Json } from '../wire.ts'
import { fateOf, read } from './fate.ts'

const NAME = 7

const BODIES: Readonly<Partial<Record<Api, readonly Json[]>>> = {
  responses: [
    { type: 'response.output_item.done', item: { type: 'function_call', call_id: 'c', name: NAME, arguments: '{}' } },
    { type: 'response.completed', response: { status: 'completed' } },
  ],
  anthropic_messages: [
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: NAME, input: {} } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    { type: 'message_stop' },
  ],
  ollama: [
    { message: { tool_calls: [{ id: 'c', function: { name: NAME, arguments: {} } }] } },
    { done: true, done_reason: 'stop' },
  ],
  cohere: [
    { type: 'tool-call-start', index: 0, delta: { message: { tool_calls: { id: 'c', function: { name: NAME } } } } },
    { type: 'tool-call-end', index: 0 },
    { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } },
  ],
  bedrock_converse: [
    { contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't', name: NAME } } } },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { messageStop: { stopReason: 'tool_use' } },
  ],
}

test.each(Object.entries(BODIES))('a number is no name: %s', (api, events) => {
  expect(fateOf(read(api as Api, sse(...events)))[1]).toMatch(/^null\(.*\) failed: missing_name$/)
})
