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
