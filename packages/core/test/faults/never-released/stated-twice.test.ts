import { describe, expect, test } from 'vitest'
import type { Api } from '../../../src/adapters/index.ts'
import { join, message } from '../../aws-event-stream/message.ts'
import { fateOf, read } from './fate.ts'

/** Events as text, for no serialiser writes a key twice. */
const body = (...events: readonly string[]): string => events.map((data) => `data: ${data}\n\n`).join('')

interface Format {
  /** A whole stream with one call, whose opening event has these fields. The first is a call to `f`. */
  readonly stream: (opening: string) => string
  readonly good: string
  readonly twice: Readonly<Record<string, string>>
}

const responses = (opening: string): string =>
  body(
    '{"type":"response.created","response":{"id":"r","model":"m","status":"in_progress"}}',
    `{"type":"response.output_item.added",${opening}}`,
    '{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\\"a\\":1}"}',
    '{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","status":"completed"}}',
    '{"type":"response.completed","response":{"id":"r","model":"m","status":"completed"}}',
  )
const messages = (opening: string): string =>
  body(
    '{"type":"message_start","message":{"id":"m","model":"x","content":[]}}',
    `{"type":"content_block_start",${opening}}`,
    '{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":1}"}}',
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
    '{"type":"message_stop"}',
  )
const cohere = (opening: string): string =>
  body(
    '{"type":"message-start","id":"m"}',
    `{"type":"tool-call-start",${opening}}`,
    '{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"{\\"a\\":1}"}}}}}',
    '{"type":"tool-call-end","index":0}',
    '{"type":"message-end","delta":{"finish_reason":"TOOL_CALL"}}',
  )
const converse = (opening: string): string =>
  body(
    '{"messageStart":{"role":"assistant"}}',
    `{"contentBlockStart":{${opening}}}`,
    '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{\\"a\\":1}"}}}}',
    '{"contentBlockStop":{"contentBlockIndex":0}}',
    '{"messageStop":{"stopReason":"tool_use"}}',
    '{"metadata":{"usage":{"inputTokens":1,"outputTokens":1}}}',
  )
const chat = (opening: string): string =>
  body(
    `{"id":"r","model":"m","object":"chat.completion.chunk","choices":[{"index":0,${opening}}]}`,
    '{"id":"r","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}',
    '{"id":"r","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}',
    '[DONE]',
  )
const chatCall = (call: string): string => `"delta":{"role":"assistant","tool_calls":[{${call}}]}`

const FORMATS: Partial<Record<Api, Format>> = {
  responses: {
    stream: responses,
    good: '"output_index":0,"item":{"type":"function_call","call_id":"c","name":"f","arguments":""}',
    twice: {
      name: '"output_index":0,"item":{"type":"function_call","call_id":"c","name":"rm","name":"f","arguments":""}',
      'call id': '"output_index":0,"item":{"type":"function_call","call_id":"d","call_id":"c","name":"f"}',
      'name, escaped': '"output_index":0,"item":{"type":"function_call","call_id":"c","n\\u0061me":"rm","name":"f"}',
      index: '"output_index":1,"output_index":0,"item":{"type":"function_call","call_id":"c","name":"f"}',
      item: '"output_index":0,"item":{"name":"rm"},"item":{"type":"function_call","call_id":"c","name":"f"}',
    },
  },
  anthropic_messages: {
    stream: messages,
    good: '"index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":{}}',
    twice: {
      name: '"index":0,"content_block":{"type":"tool_use","id":"c","name":"rm","name":"f","input":{}}',
      id: '"index":0,"content_block":{"type":"tool_use","id":"d","id":"c","name":"f","input":{}}',
      index: '"index":1,"index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":{}}',
      input: '"index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":{"b":2},"input":{}}',
    },
  },
  cohere: {
    stream: cohere,
    good: '"index":0,"delta":{"message":{"tool_calls":{"id":"c","function":{"name":"f","arguments":""}}}}',
    twice: {
      name: '"index":0,"delta":{"message":{"tool_calls":{"id":"c","function":{"name":"rm","name":"f","arguments":""}}}}',
      id: '"index":0,"delta":{"message":{"tool_calls":{"id":"d","id":"c","function":{"name":"f"}}}}',
      index: '"index":1,"index":0,"delta":{"message":{"tool_calls":{"id":"c","function":{"name":"f"}}}}',
      call: '"index":0,"delta":{"message":{"tool_calls":{},"tool_calls":{"id":"c","function":{"name":"f"}}}}',
      arguments:
        '"index":0,"delta":{"message":{"tool_calls":{"id":"c","function":{"name":"f","arguments":"{","arguments":""}}}}',
    },
  },
  bedrock_converse: {
    stream: converse,
    good: '"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"c","name":"f"}}',
    twice: {
      name: '"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"c","name":"rm","name":"f"}}',
      id: '"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"d","toolUseId":"c","name":"f"}}',
      index: '"contentBlockIndex":1,"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"c","name":"f"}}',
    },
  },
  chat_completions: {
    stream: chat,
    good: chatCall('"index":0,"id":"c","function":{"name":"f","arguments":"{\\"a\\""}'),
    twice: {
      name: chatCall('"index":0,"id":"c","function":{"name":"rm","name":"f","arguments":"{\\"a\\""}'),
      id: chatCall('"index":0,"id":"d","id":"c","function":{"name":"f","arguments":"{\\"a\\""}'),
      index: chatCall('"index":1,"index":0,"id":"c","function":{"name":"f","arguments":"{\\"a\\""}'),
      arguments: chatCall('"index":0,"id":"c","function":{"name":"f","arguments":"","arguments":"{\\"a\\""}'),
      function: chatCall('"index":0,"id":"c","function":{},"function":{"name":"f","arguments":"{\\"a\\""}'),
      delta: `"delta":{},${chatCall('"index":0,"id":"c","function":{"name":"f","arguments":"{\\"a\\""}')}`,
    },
  },
}

const cases = Object.entries(FORMATS) as [Api, Format][]

describe.each(cases)('%s: what opens a call has a key twice', (api, { stream, good, twice }) => {
  test('each key once is released', () => {
    expect(fateOf(read(api, stream(good)))).toEqual(['completed', 'f({"a":1}) ready'])
  })

  test.each(Object.entries(twice))('%s', (_, opening) => {
    const result = read(api, stream(opening))
    expect(fateOf(result)).toEqual(['completed', 'f({"a":1}) held: arguments_unsafe'])
    expect(result.report.choices[0]!.toolCalls[0]!.message).toMatch(
      /^the key at \/\S+ is there twice, and which one counts depends on the reader$/,
    )
  })
})

const created = '{"type":"response.created","response":{"id":"r","model":"m","status":"in_progress"}}'
const added = `{"type":"response.output_item.added",${FORMATS.responses!.good}}`
const done =
  '{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","status":"completed"}}'
const completed = (output: string): string =>
  `{"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[${output}]}}`
const item = (name: string, id: string): string =>
  `{"type":"function_call","call_id":"${id}","name":${name},"arguments":"{\\"a\\":1}"}`

const gemini = (call: string): string =>
  body(
    `{"candidates":[{"content":{"parts":[{"functionCall":{${call}}}]}}]}`,
    '{"candidates":[{"finishReason":"STOP"}]}',
  )
const ollama = (call: string): string =>
  `{"message":{"tool_calls":[{"function":{${call}}}]},"done":false}\n{"done":true,"done_reason":"stop"}\n`
const cohereV1 = (call: string): string =>
  `{"event_type":"tool-calls-generation","tool_calls":[{${call}}]}\n{"event_type":"stream-end","finish_reason":"COMPLETE"}\n`
const pieces = (name: string): string =>
  body(
    `{"candidates":[{"content":{"parts":[{"functionCall":{${name},"willContinue":true}}]}}]}`,
    '{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.a","numberValue":1}]}}]}}]}',
    '{"candidates":[{"finishReason":"STOP"}]}',
  )
const whole = (name: string): string =>
  `{"type":"message","id":"m","model":"x","role":"assistant","content":[{"type":"tool_use","id":"c",${name},"input":{}}],` +
  '"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}'
const frames = (opening: string): Uint8Array =>
  join(
    ...messages(opening)
      .split('\n\n')
      .filter((event) => event !== '')
      .map((event) =>
        message(JSON.stringify({ bytes: btoa(event.slice('data: '.length)) }), { ':event-type': 'chunk' }),
      ),
  )

describe('a call that comes whole, and whatever its arguments are', () => {
  test.each<[Api, (call: string) => string, string, string]>([
    ['gemini', gemini, '"name":"f"', '{}'],
    ['gemini', gemini, '"name":"f","args":{}', '{}'],
    ['gemini', gemini, '"name":"f","args":{"a":1}', '{"a":1}'],
    ['ollama', ollama, '"name":"f"', '{}'],
    ['ollama', ollama, '"name":"f","arguments":"{}"', '{}'],
    ['ollama', ollama, '"name":"f","arguments":{"a":1}', '{"a":1}'],
    ['cohere', cohereV1, '"name":"f"', '{}'],
    ['cohere', cohereV1, '"name":"f","parameters":{"a":1}', '{"a":1}'],
  ])('%s: %s%s', (api, write, call, args) => {
    expect(fateOf(read(api, write(call)))).toEqual(['completed', `f(${args}) ready`])
    expect(fateOf(read(api, write(`"name":"rm",${call}`)))).toEqual(['completed', `f(${args}) held: arguments_unsafe`])
  })

  test('gemini: a call that is told in pieces', () => {
    expect(fateOf(read('gemini', pieces('"name":"f"')))).toEqual(['completed', 'f({"a":1}) ready'])
    expect(fateOf(read('gemini', pieces('"name":"rm","name":"f"')))).toEqual([
      'completed',
      'f({"a":1}) held: arguments_unsafe',
    ])
  })

  test('anthropic_messages: a message that was not streamed, and one in frames', () => {
    expect(fateOf(read('anthropic_messages', whole('"name":"f"')))).toEqual(['completed', 'f() ready'])
    expect(fateOf(read('anthropic_messages', whole('"name":"rm","name":"f"')))).toEqual([
      'completed',
      'f() held: arguments_unsafe',
    ])
    const { good, twice } = FORMATS.anthropic_messages!
    expect(fateOf(read('anthropic_messages', frames(good)))).toEqual(['completed', 'f({"a":1}) ready'])
    expect(fateOf(read('anthropic_messages', frames(twice['name']!)))).toEqual([
      'completed',
      'f({"a":1}) held: arguments_unsafe',
    ])
  })
})

describe('what the key is in decides', () => {
  test('chat_completions: text beside the call, or a field of the whole, may be there twice', () => {
    const call = '"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\\"a\\""}}]'
    for (const opening of [
      `"delta":{"content":null,"content":null,${call}}`,
      `"delta":{${call}},"logprobs":1,"logprobs":null`,
    ])
      expect(fateOf(read('chat_completions', chat(opening)))).toEqual(['completed', 'f({"a":1}) ready'])
  })

  test('chat_completions: numbers beside the call are none of it, however many would be rounded', () => {
    const logprobs = Array.from({ length: 20 }, () => '-0.10000000000000000555').join(',')
    const opening = `${FORMATS.chat_completions!.good},"logprobs":{"content":[${logprobs}]}`
    expect(fateOf(read('chat_completions', chat(opening)))).toEqual(['completed', 'f({"a":1}) ready'])
  })

  test('more keys twice than are looked at, and nesting that can not be looked through, are reason enough', () => {
    const many = `{${Array.from({ length: 20 }, () => '"x":1').join(',')}}`
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`
    for (const beside of [many, deep]) {
      const opening = `${FORMATS.responses!.good},"more":${beside}`
      expect(fateOf(read('responses', responses(opening)))).toEqual(['completed', 'f({"a":1}) held: arguments_unsafe'])
    }
  })

  test('responses: so may a field that is not of the item', () => {
    const opening = `"obfuscation":"a","obfuscation":"b",${FORMATS.responses!.good}`
    expect(fateOf(read('responses', responses(opening)))).toEqual(['completed', 'f({"a":1}) ready'])
  })

  test.each([
    [
      'arguments.done',
      '{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{}","arguments":"{\\"a\\":1}"}',
    ],
    [
      'the item that is done',
      '{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","status":"completed","arguments":"{}","arguments":"{\\"a\\":1}"}}',
    ],
  ])('responses: in %s', (_, stating) => {
    expect(fateOf(read('responses', body(created, added, stating, done, completed(''))))).toEqual([
      'completed',
      'f({"a":1}) held: arguments_unsafe',
    ])
  })

  test('responses: in the final response, only for the call that it closes', () => {
    expect(
      fateOf(read('responses', body(created, completed(`${item('"rm","name":"f"', 'c')},${item('"g"', 'd')}`)))),
    ).toEqual(['completed', 'f({"a":1}) held: arguments_unsafe', 'g({"a":1}) held: batch_held'])
    const delta = '{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\\"a\\":1}"}'
    const result = read('responses', body(created, added, delta, done, completed(item('"rm","name":"f"', 'c'))))
    expect(fateOf(result)).toEqual(['completed', 'f({"a":1}) ready'])
  })

  test('events that a hop glued together are looked at one by one', () => {
    const [first, second, ...rest] = converse(FORMATS.bedrock_converse!.good).split('\n\n')
    const glued = (opening: string): string => [`${first}\n${opening}`, ...rest].join('\n\n')
    expect(fateOf(read('bedrock_converse', glued(second!)))).toEqual(['completed', 'f({"a":1}) ready'])
    expect(fateOf(read('bedrock_converse', glued(second!.replace('"name"', '"name":"rm","name"'))))).toEqual([
      'completed',
      'f({"a":1}) held: arguments_unsafe',
    ])
  })
})
