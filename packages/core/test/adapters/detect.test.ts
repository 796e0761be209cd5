import { describe, expect, test } from 'vitest'
import { detectApi } from '../../src/adapters/detect.ts'

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const seen = (body: string): string | undefined => {
  const found = detectApi({ body: utf8(body) })
  return found && `${found.api} ${found.confidence}`
}

describe('by the body', () => {
  test.each([
    ['data: {"id":"c","object":"chat.completion.chunk","choices":[{"delta":{}}]}\n\n', 'chat_completions certain'],
    [': ping\n\n'.repeat(500) + 'data: {"choices": [{}]}\n\n', 'chat_completions likely'],
    ['{"choices":[]}', 'chat_completions likely'],
    ['data: {"object":"text_completion","choices":[{"text":"a"}]}\n\n', 'completions certain'],
    ['data: {"choices":[{"text":"a","index":0}]}\n\n', 'completions likely'],
    ['event: response.created\ndata: {}\n\n', 'responses certain'],
    ['data: {"type":"response.output_text.delta","delta":"a"}\n\n', 'responses certain'],
    ['{\n  "id": "r",\n  "object": "response",\n  "output": []\n}', 'responses likely'],
    ['event: message_start\r\ndata: {"type":"message_start"}\r\n\r\n', 'anthropic_messages certain'],
    ['{"id":"m","type":"message","role":"assistant","content":[]}', 'anthropic_messages certain'],
    ['data: {"candidates": [{"content":{"parts":[{"functionCall":{"args":{"choices":[]}}}]}}]}\n\n', 'gemini certain'],
    ['[{"candidates":[]}\n,\r\n{"candidates":[]}]', 'gemini certain'],
    ['[{\n  "candidates": [\n', 'gemini likely'],
    ['{"model":"m","message":{"content":"a"},"done":false}\n', 'ollama likely'],
    [
      '{"message":{"tool_calls":[{"function":{"arguments":{"choices":[1],"candidates":[]}}}]},"done":false}\n',
      'ollama likely',
    ],
    ['event: message-start\ndata: {"type":"message-start","id":"x"}\n\n', 'cohere certain'],
    ['{"is_finished":false,"event_type":"stream-start"}\n', 'cohere likely'],
    ['data: {"messageStart":{"role":"assistant"}}\n\n', 'bedrock_converse certain'],
    ['data: {"text":"\\"choices\\":["}\n\n', undefined],
    ['data: {"type":"error","error":{}}\n\n', undefined],
    ['<html>', undefined],
    ['', undefined],
  ])('%j', (body, found) => {
    expect(seen(body.slice(0, 10_000))).toBe(found)
  })

  test('a payload before the sign does not hide it', () => {
    expect(seen('data: {"a":1}\n\ndata: {"type":"ping"}\n\ndata: {"type":"content_block_start"}\n\n')).toBe(
      'anthropic_messages certain',
    )
  })

  test('inside the frames of an AWS event stream', () => {
    const event = btoa('{"type":"message_start","message":{}}')
    expect(seen(`\0\0\0\u0001:event-type{"bytes":"${event}"}`)).toBe('anthropic_messages likely')
    expect(seen('\0\0\0\u0001:event-type\u0007\0\u000cmessageStart{"role":"assistant"}')).toBe(
      'bedrock_converse likely',
    )
  })
})

describe('by the address, where the body says nothing', () => {
  test.each([
    ['https://a.example/v1/chat/completions?x=1', 'chat_completions'],
    ['https://a.example/openai/deployments/d/chat/completions?api-version=2', 'chat_completions'],
    ['https://a.example/v1/completions', 'completions'],
    ['https://a.example/v1/responses', 'responses'],
    ['https://a.example/v1/messages/', 'anthropic_messages'],
    ['https://a.example/v1beta/models/m:streamGenerateContent?alt=sse', 'gemini'],
    ['http://a.example/api/chat', 'ollama'],
    ['https://a.example/v2/chat', 'cohere'],
    ['https://a.example/model/m/converse-stream', 'bedrock_converse'],
    ['https://a.example/v1/chat/completions/other', undefined],
    ['not a URL', undefined],
  ])('%s', (url, api) => {
    expect(detectApi({ url })?.api).toBe(api)
    expect(detectApi({ url, body: utf8('data: {"candidates":[]}\n\n') })?.api).toBe('gemini')
  })

  test('a content type alone is a hint', () => {
    expect(detectApi({ contentType: 'application/x-ndjson; charset=utf-8' })).toMatchObject({
      api: 'ollama',
      confidence: 'likely',
    })
    expect(detectApi({ contentType: 'text/event-stream' })).toBeUndefined()
  })
})
