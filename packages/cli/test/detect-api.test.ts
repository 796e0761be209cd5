import { describe, expect, test } from 'vitest'
import { detectApi, detectApiOfUrl } from '../src/detect-api.ts'

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('by the body', () => {
  test.each([
    ['data: {"id":"c","object":"chat.completion.chunk","choices":[{"delta":{}}]}\n\n', 'chat_completions'],
    [': ping\n\n'.repeat(500) + 'data: {"choices": [{}]}\n\n', 'chat_completions'],
    ['{"choices":[]}', 'chat_completions'],
    ['event: response.created\ndata: {}\n\n', 'responses'],
    ['data: {"type":"response.output_text.delta","delta":"a"}\n\n', 'responses'],
    ['event: message_start\ndata: {"type":"message_start"}\n\n', 'anthropic_messages'],
    ['data: {"candidates": [{"content":{"parts":[{"functionCall":{"args":{"choices":[]}}}]}}]}\n\n', 'gemini'],
    ['{"model":"m","message":{"content":"a"},"done":false}\n', 'ollama'],
    ['data: {"text":"\\"choices\\":["}\n\n', undefined],
    ['<html>', undefined],
    ['', undefined],
  ])('%j', (body, api) => {
    expect(detectApi(utf8(body.slice(0, 10_000)))).toBe(api)
  })

  test('inside the frames of an AWS event stream', () => {
    const event = btoa('{"type":"message_start","message":{}}')
    expect(detectApi(utf8(`\0\0\0\u0001:event-type{"bytes":"${event}"}`))).toBe('anthropic_messages')
  })
})

describe('by the URL of a recorded request', () => {
  test.each([
    ['https://a.example/v1/chat/completions?x=1', 'chat_completions'],
    ['https://a.example/openai/deployments/d/chat/completions?api-version=2', 'chat_completions'],
    ['https://a.example/v1/responses', 'responses'],
    ['https://a.example/v1/messages/', 'anthropic_messages'],
    ['https://a.example/v1beta/models/m:streamGenerateContent?alt=sse', 'gemini'],
    ['http://a.example/api/chat', 'ollama'],
    ['https://a.example/v1/chat/completions/other', undefined],
    ['not a URL', undefined],
  ])('%s', (url, api) => {
    expect(detectApiOfUrl(url)).toBe(api)
  })
})
