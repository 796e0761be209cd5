import { describe, expect, test } from 'vitest'
import { chatCompletions } from '../../src/adapters/openai-chat/adapter.ts'
import { adapterFor } from '../../src/adapters/registry.ts'
import { mapEventStream, parseEventStream } from '../../src/client/event-stream.ts'
import { guardFetch } from '../../src/client/guard-fetch.ts'
import { streamModel, streamModelWith } from '../../src/client/model-stream.ts'

/** As a caller without types passes it. */
function untyped(value: unknown): never {
  return value as never
}

const GOOD = { api: 'chat_completions', body: { model: 'm', messages: [] } } as const

/** All are told at once: nothing was asked of a server yet. */
describe('streamModel refuses', () => {
  test.each([
    { name: 'no options', options: undefined, message: /^streamModel takes an object of options/ },
    { name: 'no api', options: { body: {} }, message: /api must be the name of an API, not undefined; known are chat/ },
    {
      name: 'an api of another name',
      options: { ...GOOD, api: 'openai' },
      message: /^streamModel: unknown API "openai"; known are chat_completions, completions, responses, anthropic_mess/,
    },
    {
      name: 'an api that is nearly one',
      options: { ...GOOD, api: 'anthropic' },
      message: /did you mean anthropic_messages\?/,
    },
    {
      name: 'another spelling',
      options: { ...GOOD, api: 'Chat-Completions' },
      message: /did you mean chat_completions\?/,
    },
    {
      name: 'an option of another name',
      options: { ...GOOD, baseUrl: 'http://h' },
      message: /^streamModel: unknown option "baseUrl"; did you mean baseURL\? known are api, baseURL, /,
    },
    { name: 'an option in the singular', options: { ...GOOD, timeout: 5 }, message: /did you mean timeouts\?/ },
    { name: 'what belongs into the body', options: { ...GOOD, model: 'm' }, message: /unknown option "model"; known/ },
    { name: 'no body', options: { api: 'responses' }, message: /body must be an object, not undefined; pass \{ model/ },
    {
      name: 'a body that is JSON already',
      options: { ...GOOD, body: '{"model":"m"}' },
      message: /body must be an object, not a string; pass the object itself, not its JSON/,
    },
    { name: 'a body that is a list', options: { ...GOOD, body: [] }, message: /body must be an object, not an array/ },
    { name: 'a key that is none', options: { ...GOOD, apiKey: null }, message: /apiKey must be a string, not null/ },
    { name: 'a preset that is none', options: { ...GOOD, timeouts: 'slow' }, message: /unknown timeouts "slow"/ },
    { name: 'a time before now', options: { ...GOOD, timeouts: { idleMs: -1 } }, message: /timeouts\.idleMs must be/ },
    {
      name: 'no attempt at all',
      options: { ...GOOD, retry: { attempts: 0 } },
      message: /retry\.attempts must be 1 or more, not 0; .*retry: false/,
    },
    {
      name: 'fewer',
      options: { ...GOOD, retry: { attempts: -1 } },
      message: /retry\.attempts must be 1 or more, not -1/,
    },
    {
      name: 'attempts that are no number',
      options: { ...GOOD, retry: { attempts: NaN } },
      message: /attempts must be .* not NaN/,
    },
    {
      name: 'a wait before now',
      options: { ...GOOD, retry: { baseDelayMs: -5 } },
      message: /retry\.baseDelayMs must be/,
    },
    {
      name: 'a last word that is none',
      options: { ...GOOD, retry: { shouldRetry: true } },
      message: /retry\.shouldRetry must be a function/,
    },
    {
      name: 'a field of retry by another name',
      options: { ...GOOD, retry: { attempt: 2 } },
      message: /unknown option "attempt"; did you mean attempts\?/,
    },
    { name: 'retry by a number', options: { ...GOOD, retry: 3 }, message: /streamModel \(retry\) takes an object/ },
    {
      name: 'a profile with a field by another name',
      options: { ...GOOD, profile: { sentinal: 'optional' } },
      message: /a profile has no field "sentinal"; known are sentinel/,
    },
  ])('$name', ({ options, message }) => {
    expect(() => streamModel(untyped(options))).toThrow(TypeError)
    expect(() => streamModel(untyped(options))).toThrow(message)
  })

  test('nothing that is undefined', () => {
    const options = {
      ...GOOD,
      apiKey: undefined,
      baseURL: undefined,
      retry: undefined,
      timeouts: undefined,
      else: undefined,
    }
    expect(() => streamModel(options)).not.toThrow()
  })
})

test.each([
  {
    name: 'no adapter',
    adapter: undefined,
    options: { body: {} },
    message: /takes an adapter first, chatCompletions\(\)/,
  },
  {
    name: 'a profile, which the adapter has',
    adapter: chatCompletions(),
    options: { body: {}, profile: {} },
    message: /unknown option "profile"/,
  },
])('streamModelWith refuses $name', ({ adapter, options, message }) => {
  expect(() => streamModelWith(untyped(adapter), options)).toThrow(message)
})

test.each([
  { name: 'options in the place of a fetch', given: [{ mode: 'observe' }], message: /takes a fetch function first/ },
  { name: 'an option of another name', given: [fetch, { onreport: () => {} }], message: /did you mean onReport\?/ },
  {
    name: 'a timer that is none',
    given: [fetch, { timeouts: { headMs: 5 } }],
    message: /unknown timer "timeouts\.headMs"/,
  },
  { name: 'a preset that is none', given: [fetch, { timeouts: 'slow' }], message: /unknown timeouts "slow"/ },
  {
    name: 'a profile with a mistake',
    given: [fetch, { profile: { sentinal: 'optional' } }],
    message: /no field "sentinal"/,
  },
])('guardFetch refuses $name, before any request', ({ given, message }) => {
  expect(() => guardFetch(...(given as Parameters<typeof guardFetch>))).toThrow(message)
})

test.each([chatCompletions, (profile: object) => adapterFor('ollama', profile)])(
  'an adapter refuses a profile with a field by another name',
  (open) => {
    expect(() => open(untyped({ sentinal: 'optional' }))).toThrow(/no field "sentinal"; known are sentinel/)
    expect(() => open(untyped({ sentinel: 'maybe' }))).toThrow(
      /sentinel must be one of required, optional, not "maybe"/,
    )
    expect(() => open(untyped({ sentinel: undefined }))).not.toThrow()
  },
)

describe.each([
  { who: 'parseEventStream', read: (source: unknown) => parseEventStream(untyped(source)) },
  { who: 'mapEventStream', read: (source: unknown) => mapEventStream(untyped(source), () => undefined) },
])('$who refuses', ({ who, read }) => {
  test.each([
    { name: 'null', source: null, message: /not null; pass response\.body, which is null where an answer has no body/ },
    { name: 'a string', source: 'data: x', message: /not a string; pass response\.body/ },
    { name: 'a Response', source: new Response('data: x'), message: /not a Response; pass response\.body$/ },
    { name: 'a list', source: [new Uint8Array(1)], message: /not an array/ },
    { name: 'nothing', source: undefined, message: /not undefined/ },
  ])('$name, at once', ({ source, message }) => {
    expect(() => read(source)).toThrow(TypeError)
    expect(() => read(source)).toThrow(`${who} takes a ReadableStream or an async iterable of bytes`)
    expect(() => read(source)).toThrow(message)
  })
})
