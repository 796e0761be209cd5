import { expect, test } from 'vitest'
import { requestFactsOf } from '../../src/recording/index.ts'
import type { RecordedRequest } from '../../src/recording/index.ts'

const request = (body: string): RecordedRequest => ({
  t: 'req',
  line: 2,
  atUs: 0,
  headers: [],
  body: new TextEncoder().encode(body),
})

test.each([
  {
    name: 'all facts',
    body: '{"n":2,"max_tokens":64,"tools":[{"type":"function","function":{"name":"a"}},{"type":"custom","custom":{"name":"b"}}],"stream_options":{"include_usage":true}}',
    facts: { n: 2, maxOutputTokens: 64, tools: ['a', 'b'], usage: true },
  },
  {
    name: 'the newer name of the limit wins',
    body: '{"max_tokens":64,"max_completion_tokens":32}',
    facts: { maxOutputTokens: 32 },
  },
  {
    name: 'the limit and the tools of other APIs',
    body: '{"max_output_tokens":16,"tools":[{"type":"function","name":"a"},{"name":"b","input_schema":{}}]}',
    facts: { maxOutputTokens: 16, tools: ['a', 'b'] },
  },
  {
    name: 'Responses: built-in tools have no name, and need none',
    body: '{"input":"Hi","max_output_tokens":9,"tools":[{"type":"web_search"},{"type":"mcp","server_label":"s"},{"type":"function","name":"a"},{"type":"custom","name":"b"}]}',
    facts: { maxOutputTokens: 9, tools: ['a', 'b'] },
  },
  {
    name: 'Responses: tools that are not understood make the list unknown',
    body: '{"input":"Hi","tools":[{"type":"function","name":"a"},{"type":"namespace","name":"n","tools":[]}]}',
    facts: {},
  },
  {
    name: 'Gemini',
    body: '{"contents":[],"generationConfig":{"maxOutputTokens":8,"candidateCount":2},"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b"}]},{"function_declarations":[{"name":"c"}]}]}',
    facts: { n: 2, maxOutputTokens: 8, tools: ['a', 'b', 'c'] },
  },
  {
    name: 'Gemini, with a tool of its own beside',
    body: '{"contents":[],"tools":[{"functionDeclarations":[{"name":"a"}]},{"googleSearch":{}}]}',
    facts: {},
  },
  { name: 'Gemini, a function without a name', body: '{"tools":[{"functionDeclarations":[{}]}]}', facts: {} },
  {
    name: 'Ollama',
    body: '{"messages":[],"options":{"num_predict":7},"tools":[{"type":"function","function":{"name":"a"}}]}',
    facts: { maxOutputTokens: 7, tools: ['a'] },
  },
  { name: 'Ollama without a limit', body: '{"messages":[],"options":{"num_predict":-1}}', facts: {} },
  {
    name: 'Bedrock',
    body: '{"messages":[],"inferenceConfig":{"maxTokens":6},"toolConfig":{"tools":[{"toolSpec":{"name":"a"}}]}}',
    facts: { maxOutputTokens: 6, tools: ['a'] },
  },
  {
    name: 'Cohere',
    body: '{"messages":[],"max_tokens":5,"tools":[{"type":"function","function":{"name":"a"}}]}',
    facts: { maxOutputTokens: 5, tools: ['a'] },
  },
  { name: 'settings that are no object', body: '{"generationConfig":[],"toolConfig":"x"}', facts: {} },
  { name: 'no fields', body: '{}', facts: {} },
  { name: 'usage that was not asked for', body: '{"stream_options":{"include_usage":false}}', facts: {} },
  { name: 'an empty list of tools', body: '{"tools":[]}', facts: { tools: [] } },
  {
    name: 'one tool without a name: none is known',
    body: '{"tools":[{"function":{"name":"a"}},{"type":"web_search"}]}',
    facts: {},
  },
  { name: 'fields of other types', body: '{"n":"2","max_tokens":-1,"tools":{},"stream_options":[]}', facts: {} },
  { name: 'fields of the prototype', body: '{"tools":[{"function":{"constructor":1}}]}', facts: {} },
  { name: 'a body that is not JSON', body: '{"n":2', facts: {} },
  { name: 'a body that is no object', body: '[2]', facts: {} },
])('$name', ({ body, facts }) => {
  expect(requestFactsOf(request(body))).toEqual(facts)
})

test('a request that was not recorded, or whose body was not', () => {
  expect(requestFactsOf(undefined)).toEqual({})
  expect(requestFactsOf({ t: 'req', line: 2, atUs: 0, headers: [], bodyLength: 5 })).toEqual({})
})

test.each([
  ['https://api.example.com/v1/responses/resp_1?stream=true&starting_after=41', 41],
  ['https://api.example.com/v1/responses/resp_1?starting_after=0', 0],
  ['https://api.example.com/v1/responses/resp_1?starting_after=x', undefined],
  ['https://api.example.com/v1/responses/resp_1?not_starting_after=4', undefined],
  ['https://api.example.com/v1/responses', undefined],
])('a stored stream that is resumed: %s', (url, startingAfter) => {
  expect(requestFactsOf({ t: 'req', line: 2, atUs: 0, headers: [], url })).toEqual(
    startingAfter === undefined ? {} : { startingAfter },
  )
})
