import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StreamError } from 'streamfold'
import type { JsonObject, StreamEvent } from 'streamfold'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ConversationEvent } from '../../src/conversation/conversation-event.ts'
import type { ConversationOptions } from '../../src/conversation/conversation-options.ts'
import type { Message } from '../../src/conversation/message.ts'
import { resumeConversation, runConversation } from '../../src/conversation/run-conversation.ts'
import { defineTool } from '../../src/define/define-tool.ts'
import type { ToolDefinition } from '../../src/define/define-tool.ts'
import type { JsonSchema } from '../../src/define/json-schema.ts'
import { createExecutor } from '../../src/executor/create-executor.ts'
import type { CreateExecutorOptions, ToolExecutor } from '../../src/executor/create-executor.ts'
import { openLedger } from '../../src/ledger/ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { answerOf, body, scriptedModel } from './scripted-model.ts'

const folder = mkdtempSync(join(tmpdir(), 'conversation-'))
let store: Store
let ledger: Ledger
let runs = 0
let runId = ''
/** What the tools did, in order. */
let done: string[] = []
const executors: ToolExecutor[] = []

beforeAll(async () => {
  store = await openStore(join(folder, 'ledger.db'))
  ledger = await openLedger(store)
})
beforeEach(() => {
  runId = `run_${++runs}`
  done = []
})
afterEach(async () => {
  for (const executor of executors.splice(0)) await executor.close()
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const ADD: ToolDefinition<JsonSchema, unknown> = {
  name: 'add',
  description: 'Adds.',
  effect: 'idempotent',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  execute(args) {
    const { a, b } = args as { a: number; b: number }
    done.push(`add ${a} ${b}`)
    return { sum: a + b }
  },
}

function executorWith(more: Partial<CreateExecutorOptions> = {}, add: Partial<typeof ADD> = {}): ToolExecutor {
  const executor = createExecutor({
    tools: [defineTool({ ...ADD, ...add })],
    policy: { revision: 'p', rules: [{ tools: '*', decision: 'allow' }] },
    ledger,
    tenant: 'acme',
    recoverEveryMs: 0,
    ...more,
  })
  executors.push(executor)
  return executor
}

const MESSAGES: readonly Message[] = [{ role: 'user', content: 'What is 1 + 2?' }]
const ADD_CALL = { id: 'call_1', name: 'add', args: '{"a":1,"b":2}' }

function run(options: Omit<ConversationOptions, 'executor' | 'runId'> & { executor?: ToolExecutor }) {
  return runConversation({ executor: executorWith(), ...options, runId, messages: MESSAGES })
}

const callWithId = (id: string): string => body.calls({ ...ADD_CALL, id })

const failing = () => ({
  ...answerOf(''),
  [Symbol.asyncIterator]: (): AsyncIterator<StreamEvent> => ({
    next: () =>
      Promise.reject(
        new StreamError({ code: 'http_error', phase: 'headers', message: 'no', retryable: 'no', status: 401 }),
      ),
  }),
})

const broken = () => ({
  ...answerOf(''),
  [Symbol.asyncIterator]: (): AsyncIterator<StreamEvent> => ({ next: () => Promise.reject(new RangeError('bug')) }),
})

const late = () => {
  const answer = answerOf(body.text('It is 3.'))
  return {
    ...answer,
    async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent> {
      yield* answer
      yield { type: 'text_delta', choice: 0, block: 0, text: 'LATE' }
      yield {
        type: 'tool_batch_ready',
        choice: 0,
        calls: [{ callId: 'l', ordinal: 0, name: 'add', argumentsText: '{"a":1,"b":1}', parsedArguments: {} }],
      }
    },
  }
}

const resume = (options: Omit<ConversationOptions, 'executor' | 'runId'> & { executor?: ToolExecutor }) =>
  resumeConversation({ executor: executorWith(), ...options, runId })

/** Begins, and dies where the ledger or the executor is asked for `method` the nth time. */
async function dieAt(method: 'nextTurn' | 'saveAnswer' | 'run', nth: number, ...scripts: string[]): Promise<void> {
  const executor = executorWith()
  let count = 0
  const dying =
    <T extends unknown[], R>(real: (...args: T) => R) =>
    (...args: T): R => {
      if (++count === nth) throw new Error('died here')
      return real(...args)
    }
  const parts = { ...bound(executor), ledger: { ...ledger } }
  if (method === 'run') parts.run = dying((...args: Parameters<ToolExecutor['run']>) => executor.run(...args))
  else Object.assign(parts.ledger, { [method]: dying(parts.ledger[method] as never) })
  const { model } = scriptedModel(...scripts)
  await expect(run({ model, executor: parts })).rejects.toThrow('died here')
}

const asking = () => executorWith({}, { approve: 'always' })

describe('model, tools, model', () => {
  test('goes on until there is a final answer', async () => {
    const { model, requests } = scriptedModel(body.calls(ADD_CALL), body.text('It is 3.'))
    const result = await run({ model })
    expect(result).toMatchObject({ state: 'finished', text: 'It is 3.', turns: 2, runId })
    expect(done).toEqual(['add 1 2'])
    expect(
      requests.map(({ turn, attempt, runId: id, tools }) => [turn, attempt, id, tools.map(({ name }) => name)]),
    ).toEqual([
      [1, 1, runId, ['add']],
      [2, 1, runId, ['add']],
    ])
    expect(requests[1]?.messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        text: '',
        toolCalls: [{ callId: 'call_1', name: 'add', argumentsText: '{"a":1,"b":2}' }],
        snapshot: { ended: true },
      },
      {
        role: 'tool',
        callId: 'call_1',
        name: 'add',
        content: '{"sum":3}',
        status: 'succeeded',
      },
    ])
    expect(result.messages).toHaveLength(4)
    expect(result.spent).toEqual({ inputTokens: 20, outputTokens: 7, toolCalls: 1 })
  })

  test('every call of an answer has one result, in its order', async () => {
    const { model, requests } = scriptedModel(
      body.calls({ ...ADD_CALL, id: 'x' }, { id: 'y', name: 'add', args: '{"a":5,"b":5}' }),
      body.text('done'),
    )
    await run({ model })
    expect(requests[1]?.messages.slice(2)).toMatchObject([
      { callId: 'x', content: '{"sum":3}' },
      { callId: 'y', content: '{"sum":10}' },
    ])
  })

  test('the events tell it all, in order', async () => {
    const events: ConversationEvent[] = []
    const { model } = scriptedModel(body.calls(ADD_CALL), body.text('3'))
    await run({ model, onEvent: (event) => void events.push(event) })
    const told = events.map((event) => (event.type === 'model_event' ? event.event.type : event.type))
    expect(told.filter((type, at) => type !== told[at - 1])).toEqual([
      'turn_started',
      'stream_started',
      'tool_call_started',
      'tool_call_arguments_delta',
      'usage',
      'tool_call_ready',
      'tool_batch_ready',
      'stream_completed',
      'tools_started',
      'tool_results',
      'turn_started',
      'stream_started',
      'text_delta',
      'usage',
      'stream_completed',
    ])
  })

  test('the report of an answer with calls is completed by what came of them', async () => {
    const events: ConversationEvent[] = []
    const { model } = scriptedModel(
      body.calls(ADD_CALL),
      body.calls({ ...ADD_CALL, id: 'call_2', args: '{"a":"x","b":2}' }),
      body.text('3'),
    )
    await run({ model, onEvent: (event) => void events.push(event) })
    const reports = events.flatMap((event) => (event.type === 'tool_results' ? [event.report] : []))
    expect(reports).toMatchObject([
      {
        verdict: { tool_authorized: { state: 'pass' }, tool_executed: { state: 'pass' } },
        choices: [{ toolCalls: [{ state: 'succeeded' }] }],
        attempts: [{ executed: true }],
      },
      {
        verdict: {
          tool_authorized: { state: 'fail', code: 'schema_violation', callId: 'call_2' },
          tool_executed: { state: 'not_reached', callId: 'call_2' },
        },
        choices: [{ toolCalls: [{ state: 'failed', code: 'schema_violation' }] }],
        attempts: [{ executed: false }],
      },
    ])
  })

  test('an answer from the ledger has no report to complete', async () => {
    const events: ConversationEvent[] = []
    await dieAt('run', 1, body.calls(ADD_CALL))
    await resume({ model: scriptedModel(body.text('3')).model, onEvent: (event) => void events.push(event) })
    const results = events.find((event) => event.type === 'tool_results')
    expect(results).toMatchObject({ results: [{ status: 'succeeded' }] })
    expect(results).not.toHaveProperty('report')
  })

  test('nothing is run before the answer is on the disk', async () => {
    const order: string[] = []
    const executor = executorWith({}, { execute: () => void order.push('executed') })
    const saveAnswer = vi.fn<Ledger['saveAnswer']>(async (...args) => {
      await ledger.saveAnswer(...args)
      order.push('saved')
    })
    const { model } = scriptedModel(body.calls(ADD_CALL), body.text('3'))
    await run({ model, executor: { ...bound(executor), ledger: { ...ledger, saveAnswer } } })
    expect(order).toEqual(['saved', 'executed', 'saved'])
  })
})

describe('the model learns what was not run', () => {
  test('by the gate', async () => {
    const { model, requests } = scriptedModel(
      body.calls({ id: 'c', name: 'add', args: '{"a":"one"}' }),
      body.text('sorry'),
    )
    expect(await run({ model })).toMatchObject({ state: 'finished' })
    expect(requests[1]?.messages[2]).toMatchObject({ role: 'tool', status: 'refused', code: 'schema_violation' })
    expect(requests[1]?.messages[2]).toHaveProperty('content', expect.stringContaining('/a: expected number'))
    expect(done).toEqual([])
  })

  test('before it: broken arguments hold the whole answer', async () => {
    const { model, requests } = scriptedModel(
      body.calls({ id: 'x', name: 'add', args: '{"a":1,' }, { id: 'y', name: 'add', args: '{"a":1,"b":1}' }),
      body.text('sorry'),
    )
    await run({ model })
    expect(requests[1]?.messages.slice(2)).toMatchObject([
      { callId: 'x', status: 'refused', code: 'arguments_incomplete' },
      { callId: 'y', status: 'refused', code: 'batch_held' },
    ])
    expect(done).toEqual([])
  })
})

describe('it stops', () => {
  test.each([
    ['truncated', body.text('It is', 'length')],
    ['refused', body.text('no', 'content_filter')],
  ])('%s: by the finish reason, without another try', async (reason, script) => {
    const { model, requests } = scriptedModel(script)
    const result = await run({ model })
    expect(result).toMatchObject({ state: 'stopped', reason, turns: 1 })
    expect(result.messages).toHaveLength(2)
    expect(requests).toHaveLength(1)
  })

  test('at the most turns', async () => {
    const { model } = scriptedModel(callWithId('a'), callWithId('b'), callWithId('c'))
    expect(await run({ model, maxTurns: 2 })).toMatchObject({ state: 'stopped', reason: 'max_turns', turns: 2 })
    // The calls of the last answer were run: their results are there for whoever goes on.
    expect(done).toHaveLength(2)
  })

  test.each([{ inputTokens: 10 }, { outputTokens: 5 }, { toolCalls: 1 }, { toolCalls: NaN }])(
    'when the budget %j is used up',
    async (budget) => {
      const { model, requests } = scriptedModel(body.calls(ADD_CALL))
      expect(await run({ model, budget })).toMatchObject({ state: 'stopped', reason: 'budget' })
      expect(requests.length).toBeLessThan(2)
    },
  )

  test('for a bound that is none it does not begin', async () => {
    await expect(run({ model: scriptedModel().model, maxTurns: 0 })).rejects.toThrow(RangeError)
    await expect(run({ model: scriptedModel().model, maxAttempts: 1.5 })).rejects.toThrow(RangeError)
  })

  test('and a run id is taken once', async () => {
    await run({ model: scriptedModel(body.text('hi')).model })
    await expect(run({ model: scriptedModel(body.text('hi')).model })).rejects.toThrow(/resumeConversation/)
  })
})

describe('an answer that breaks off', () => {
  test.each([
    ['is cut', body.cut('It')],
    ['ends in an error', body.error('server_error')],
    ['has calls that nothing closed', body.unfinished(ADD_CALL)],
  ])('%s: it is asked for again, as a new turn, and what was shown is taken back', async (_what, script) => {
    const events: ConversationEvent[] = []
    const { model, requests } = scriptedModel(script, body.text('It is 3.'))
    const result = await run({ model, onEvent: (event) => void events.push(event) })
    expect(result).toMatchObject({ state: 'finished', text: 'It is 3.', turns: 1 })
    expect(requests.map(({ turn, attempt }) => [turn, attempt])).toEqual([
      [1, 1],
      [2, 2],
    ])
    expect(requests[1]?.messages).toEqual(MESSAGES)
    expect(events.filter(({ type }) => type === 'turn_abandoned')).toMatchObject([{ turn: 1, attempt: 1 }])
    expect(done).toEqual([])
  })

  test('twice: it stops with the error, and the ledger has both attempts', async () => {
    const { model } = scriptedModel(body.cut('It'), body.cut('It is'))
    const result = await run({ model })
    expect(result).toMatchObject({ state: 'stopped', reason: 'failed', error: { code: 'incomplete_stream' }, turns: 0 })
    expect((await ledger.readRun('acme', runId))?.turns).toMatchObject([
      { turn: 1, answer: null },
      { turn: 2, answer: null },
    ])
  })

  test('for a reason that stays: it is not asked again', async () => {
    const { model, requests } = scriptedModel(failing)
    expect(await run({ model })).toMatchObject({
      state: 'stopped',
      reason: 'failed',
      error: { code: 'http_error', status: 401 },
    })
    expect(requests).toHaveLength(1)
  })

  test('held for its end, twice', async () => {
    const { model } = scriptedModel(body.unfinished(ADD_CALL), body.unfinished(ADD_CALL))
    expect(await run({ model })).toMatchObject({ state: 'stopped', reason: 'held' })
    expect(done).toEqual([])
  })

  test('an error that is no StreamError is the caller’s', async () => {
    await expect(run({ model: scriptedModel(broken).model })).rejects.toThrow(RangeError)
  })
})

describe('late events are fenced out', () => {
  test('what a stream sends after its end is neither shown nor run', async () => {
    const events: ConversationEvent[] = []
    const result = await run({ model: scriptedModel(late).model, onEvent: (event) => void events.push(event) })
    expect(result).toMatchObject({ state: 'finished', text: 'It is 3.' })
    expect(JSON.stringify(events)).not.toContain('LATE')
    expect(done).toEqual([])
  })

  test('a stream that does not heed its signal is left; what it sends then is nobody’s', async () => {
    const controller = new AbortController()
    let send: ((read: IteratorResult<StreamEvent>) => void) | undefined
    const hanging = () => ({
      ...answerOf(''),
      [Symbol.asyncIterator]: (): AsyncIterator<StreamEvent> => ({
        next: () =>
          new Promise((resolve) => {
            send = resolve
            controller.abort()
          }),
      }),
    })
    const events: ConversationEvent[] = []
    const { model, requests } = scriptedModel(hanging)
    const result = await run({ model, signal: controller.signal, onEvent: (event) => void events.push(event) })
    expect(result).toMatchObject({ state: 'stopped', reason: 'cancelled' })
    expect(requests[0]?.signal.aborted).toBe(true)
    const told = events.length
    send?.({ done: false, value: { type: 'text_delta', choice: 0, block: 0, text: 'LATE' } })
    await new Promise((resolve) => setImmediate(resolve))
    expect(events).toHaveLength(told)
  })

  test('two that go on with one run: one is superseded, and every call is run once', async () => {
    const executor = executorWith()
    await runConversation({
      model: scriptedModel(body.calls(ADD_CALL)).model,
      executor,
      runId,
      messages: MESSAGES,
      maxTurns: 1,
    })
    const results = await Promise.all(
      [1, 2].map(() =>
        resumeConversation({
          model: scriptedModel(body.text('3'), body.text('3')).model,
          executor: executorWith(),
          runId,
        }),
      ),
    )
    const states = results.map((result) => (result.state === 'stopped' ? result.reason : result.state))
    expect(states.toSorted()).toEqual(['finished', 'superseded'])
    expect(done).toEqual(['add 1 2'])
  })
})

describe('resumeConversation', () => {
  test.each([
    {
      what: 'before the first request',
      at: ['nextTurn', 1],
      before: [],
      after: [body.calls(ADD_CALL), body.text('3')],
    },
    {
      what: 'before the first answer was saved',
      at: ['saveAnswer', 1],
      before: [body.calls(ADD_CALL)],
      after: [body.calls({ ...ADD_CALL, id: 'new' }), body.text('3')],
    },
    {
      what: 'between the answer and its calls',
      at: ['run', 1],
      before: [body.calls(ADD_CALL)],
      after: [body.text('3')],
    },
    {
      what: 'between the calls and the next request',
      at: ['nextTurn', 2],
      before: [body.calls(ADD_CALL)],
      after: [body.text('3')],
    },
    {
      what: 'before the last answer was saved',
      at: ['saveAnswer', 2],
      before: [body.calls(ADD_CALL), body.text('3')],
      after: [body.text('3')],
    },
  ] as const)('died $what: goes on, and every call is run once', async ({ at, before, after }) => {
    await dieAt(at[0], at[1], ...before)
    const { model, requests } = scriptedModel(...after)
    const result = await resume({ model })
    expect(result).toMatchObject({ state: 'finished', text: '3', turns: 2 })
    expect(requests).toHaveLength(after.length)
    expect(done).toEqual(['add 1 2'])
    expect(result.messages).toMatchObject([
      { role: 'user', content: 'What is 1 + 2?' },
      { role: 'assistant', toolCalls: [{ name: 'add' }] },
      { role: 'tool', content: '{"sum":3}', status: 'succeeded' },
      { role: 'assistant', text: '3' },
    ])
  })

  test('the messages rebuilt from the ledger are those that were', async () => {
    const scripts = [
      body.calls(ADD_CALL, { id: 'bad', name: 'add', args: '{"a":1}' }),
      body.calls({ ...ADD_CALL, id: 'call_2' }, { id: 'broken', name: 'add', args: '{' }),
      body.calls({ ...ADD_CALL, id: 'call_3' }),
      body.text('3'),
    ]
    const { messages, spent } = await run({ model: scriptedModel(...scripts).model })
    const again = await resume({ model: scriptedModel().model })
    expect(again).toMatchObject({ state: 'finished', text: '3', turns: 4 })
    expect(again.messages).toEqual(JSON.parse(JSON.stringify(messages)) as JsonObject[])
    expect(again.spent).toEqual(spent)
  })

  test('waits for a person, and goes on when that one has answered', async () => {
    const pending = await run({ model: scriptedModel(body.calls(ADD_CALL)).model, executor: asking() })
    expect(pending).toMatchObject({ state: 'pending', waiting: [{ callId: 'call_1', code: 'approval_required' }] })
    expect(await resume({ model: scriptedModel().model, executor: asking() })).toMatchObject({ state: 'pending' })
    expect(done).toEqual([])

    const [approval] = await ledger.pendingApprovals('acme')
    await ledger.decideApproval('acme', approval?.approvalId as string, { decision: 'allow', by: 'ann' })
    expect(await resume({ model: scriptedModel(body.text('3')).model, executor: asking() })).toMatchObject({
      state: 'finished',
    })
    expect(done).toEqual(['add 1 2'])
  })

  test('declined never runs, and the model is told', async () => {
    await run({ model: scriptedModel(body.calls(ADD_CALL)).model, executor: asking() })
    const [approval] = await ledger.pendingApprovals('acme')
    await ledger.decideApproval('acme', approval?.approvalId as string, { decision: 'deny', by: 'ann' })
    const { model, requests } = scriptedModel(body.text('as you like'))
    expect(await resume({ model, executor: asking() })).toMatchObject({ state: 'finished' })
    expect(requests[0]?.messages[2]).toMatchObject({ role: 'tool', status: 'refused', code: 'approval_denied' })
    expect(done).toEqual([])
  })

  test('a run that was cancelled in the ledger stays so', async () => {
    const executor = executorWith()
    await runConversation({
      model: scriptedModel(body.calls(ADD_CALL)).model,
      executor,
      runId,
      messages: MESSAGES,
      maxTurns: 1,
    })
    await executor.cancel(runId, 'ann')
    const { model, requests } = scriptedModel(body.text('3'))
    expect(await resume({ model })).toMatchObject({ state: 'stopped', reason: 'cancelled' })
    expect(requests).toEqual([])
  })

  test('an abort stops here only', async () => {
    const controller = new AbortController()
    const aborting = executorWith({}, { execute: () => controller.abort() })
    const stopped = await run({
      model: scriptedModel(body.calls(ADD_CALL)).model,
      executor: aborting,
      signal: controller.signal,
    })
    expect(stopped).toMatchObject({ state: 'stopped', reason: 'cancelled' })
    expect(await resume({ model: scriptedModel(body.text('3')).model })).toMatchObject({ state: 'finished' })
  })

  test('there has to be such a conversation', async () => {
    await expect(resume({ model: scriptedModel().model })).rejects.toThrow(/no conversation/)
    await ledger.startRun('acme', runId, '{"v":9}')
    await expect(resume({ model: scriptedModel().model })).rejects.toThrow(/another version/)
  })
})

/** The executor's members as plain ones, to be overlaid. */
function bound(executor: ToolExecutor): ToolExecutor {
  const { tenant, owner, tools } = executor
  return {
    tenant,
    owner,
    tools,
    ledger: executor.ledger,
    run: (batch, place) => executor.run(batch, place),
    recover: () => executor.recover(),
    cancel: (id, by) => executor.cancel(id, by),
    close: () => executor.close(),
  }
}
