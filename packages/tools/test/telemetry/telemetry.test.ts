import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import type { DataPoint, Histogram } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runConversation } from '../../src/conversation/run-conversation.ts'
import { defineTool } from '../../src/define/define-tool.ts'
import { createExecutor } from '../../src/executor/create-executor.ts'
import type { ToolExecutor } from '../../src/executor/create-executor.ts'
import { openLedger } from '../../src/ledger/ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { createInferenceSpans } from '../../src/telemetry/inference-spans.ts'
import { createTelemetry } from '../../src/telemetry/index.ts'
import type { CallLine, Semconv } from '../../src/telemetry/index.ts'
import { sha256Hex } from '../../src/validate/sha256.ts'
import { body, scriptedModel } from '../conversation/scripted-model.ts'

const SECRET = 'secret-value'
const folder = mkdtempSync(join(tmpdir(), 'telemetry-'))
let store: Store
let ledger: Ledger
let executor: ToolExecutor | undefined
let runs = 0
let spans: InMemorySpanExporter
let exporter: InMemoryMetricExporter
let reader: PeriodicExportingMetricReader
let lines: CallLine[]

beforeAll(async () => {
  store = await openStore(join(folder, 'ledger.db'))
  ledger = await openLedger(store)
})
beforeEach(() => {
  spans = new InMemorySpanExporter()
  exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  // Never by itself: the tests ask for it.
  reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 })
  lines = []
})
afterEach(async () => {
  await executor?.close()
  await reader.shutdown()
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const NOTE = defineTool({
  name: 'note',
  description: 'Notes.',
  effect: 'read',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute({ text }) {
    if (text.startsWith('fail')) throw new RangeError(text)
    return { kept: text }
  },
})

/** A conversation of two answers, the first with these calls. Every look at the clock is a second later. */
async function converse(semconv: Semconv | undefined, ...args: readonly string[]): Promise<string> {
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).getTracer('test')
  const meter = new MeterProvider({ readers: [reader] }).getMeter('test')
  let seconds = 0
  const telemetry = createTelemetry({
    tracer,
    meter,
    onCall: (line) => void lines.push(line),
    now: () => seconds++ * 1000,
    ...(semconv === undefined ? {} : { semconv }),
  })
  const made = createExecutor({
    tools: telemetry.tools([NOTE]),
    policy: { revision: 'p', rules: [{ tools: '*', decision: 'allow' }] },
    ledger,
    tenant: 'acme',
    recoverEveryMs: 0,
    concurrency: 1,
    batch: 'run-the-rest',
  })
  executor = telemetry.executor(made)
  const { model } = scriptedModel(
    body.calls(...args.map((text, at) => ({ id: `c${at}`, name: 'note', args: text }))),
    body.text('done'),
  )
  const runId = `run_${++runs}`
  await runConversation({
    model: telemetry.model(model, { provider: 'openai', model: 'gpt-x', serverAddress: 'api.example.com' }),
    executor,
    runId,
    messages: [{ role: 'user', content: SECRET }],
  })
  return runId
}

const spansNamed = (name: string) => spans.getFinishedSpans().filter((span) => span.name === name)

/** name → attributes and count (of a counter the value, of a histogram how many). */
async function metricsNow(): Promise<Record<string, [Record<string, unknown>, number][]>> {
  await reader.forceFlush()
  const found = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
  return Object.fromEntries(
    found.map(({ descriptor, dataPoints }) => [
      descriptor.name,
      (dataPoints as DataPoint<number | Histogram>[]).map(({ attributes, value }) => [
        attributes,
        typeof value === 'number' ? value : value.count,
      ]),
    ]),
  )
}

describe('spans', () => {
  test('one for every request and every execution; a tool links to the request it came from', async () => {
    const runId = await converse(undefined, `{"text":"${SECRET}"}`)
    const [first, second] = spansNamed('chat gpt-x')
    expect(first).toMatchObject({
      kind: SpanKind.CLIENT,
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-x',
        'gen_ai.request.stream': true,
        'gen_ai.conversation.id': runId,
        'gen_ai.response.finish_reasons': ['tool_calls'],
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.output_tokens': 5,
        'server.address': 'api.example.com',
        'streamfold.turn': 1,
        'streamfold.outcome': 'completed',
      },
    })
    expect(second).toMatchObject({ attributes: { 'streamfold.turn': 2, 'gen_ai.response.finish_reasons': ['stop'] } })
    const [tool, ...others] = spansNamed('execute_tool note')
    expect(others).toEqual([])
    expect(tool).toMatchObject({
      kind: SpanKind.INTERNAL,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'note',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': 'c0',
        'gen_ai.conversation.id': runId,
        'streamfold.tool.effect': 'read',
      },
    })
    expect(tool?.links.map(({ context }) => context.spanId)).toEqual([first?.spanContext().spanId])
  })

  test('a tool that throws is an error by its kind', async () => {
    await converse(undefined, `{"text":"fail ${SECRET}"}`)
    expect(spansNamed('execute_tool note')[0]).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'RangeError' },
    })
  })

  test('a refused call was not executed, and has none', async () => {
    await converse(undefined, '{"text":5}')
    expect(spansNamed('execute_tool note')).toEqual([])
  })

  test('a stream that broke off is an error, by its code', async () => {
    const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).getTracer('test')
    const telemetry = createTelemetry({ tracer })
    const made = createExecutor({
      tools: [],
      policy: { revision: 'p', rules: [] },
      ledger,
      tenant: 'acme',
      recoverEveryMs: 0,
    })
    executor = made
    const model = telemetry.model(scriptedModel(body.cut('It')).model, { provider: 'openai', model: 'gpt-x' })
    await runConversation({ model, executor: made, runId: `run_${++runs}`, messages: [], maxAttempts: 1 })
    expect(spansNamed('chat gpt-x')).toMatchObject([
      {
        status: { code: SpanStatusCode.ERROR },
        attributes: { 'error.type': 'incomplete_stream', 'streamfold.outcome': 'incomplete' },
      },
    ])
  })

  test('a model that throws ends its span', async () => {
    const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).getTracer('test')
    const model = createTelemetry({ tracer }).model(
      () => {
        throw new TypeError('no')
      },
      { provider: 'openai', model: 'gpt-x' },
    )
    expect(() => model({} as never)).toThrow(TypeError)
    expect(spansNamed('chat gpt-x')).toMatchObject([{ attributes: { 'error.type': 'TypeError' } }])
  })

  test('the tool’s own spans are children of its execution', async () => {
    const { AsyncLocalStorageContextManager } = await import('./context-manager.ts')
    const manager = new AsyncLocalStorageContextManager()
    const { context } = await import('@opentelemetry/api')
    context.setGlobalContextManager(manager)
    try {
      const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).getTracer('test')
      let inside: string | undefined
      const [tool] = createTelemetry({ tracer }).tools([
        { ...NOTE, execute: () => (inside = trace.getActiveSpan()?.spanContext().spanId) },
      ])
      await tool?.execute({}, { runId: 'r', turn: 1, callId: 'c', fence: 1 } as never)
      expect(inside).toBe(spansNamed('execute_tool note')[0]?.spanContext().spanId)
    } finally {
      context.disable()
    }
  })
})

const sorted = (table: object) =>
  Object.fromEntries(
    Object.entries(table).map(([name, points]) => [
      name,
      (points as unknown[]).map((point) => JSON.stringify(point)).toSorted(),
    ]),
  )

describe('metrics', () => {
  const CHAT = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-x',
    'server.address': 'api.example.com',
  }
  const EXECUTE = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'note' }
  const OURS = {
    'streamfold.tool_call.state': [
      [{ 'gen_ai.tool.name': 'note', state: 'succeeded' }, 1],
      [{ 'gen_ai.tool.name': 'note', state: 'refused', code: 'schema_violation' }, 1],
    ],
  }
  const OLD = {
    'gen_ai.client.operation.time_to_first_chunk': [[CHAT, 2]],
    'gen_ai.client.token.usage': [
      [{ ...CHAT, 'gen_ai.token.type': 'input' }, 2],
      [{ ...CHAT, 'gen_ai.token.type': 'output' }, 2],
    ],
  }
  const NEW = {
    'gen_ai.client.inference.duration': [[CHAT, 2]],
    'gen_ai.client.inference.time_to_first_chunk': [[CHAT, 2]],
    'gen_ai.execute_tool.duration': [[EXECUTE, 1]],
    'gen_ai.client.inference.usage.input_tokens': [[{ ...CHAT, 'gen_ai.token.modality': 'unknown' }, 20]],
    'gen_ai.client.inference.usage.output_tokens': [[{ ...CHAT, 'gen_ai.token.modality': 'unknown' }, 7]],
  }
  const OLD_DURATION = {
    'gen_ai.client.operation.duration': [
      [CHAT, 2],
      [EXECUTE, 1],
    ],
  }

  test.each<[Semconv | undefined, object]>([
    [undefined, { ...OURS, ...OLD, ...OLD_DURATION }],
    ['1.41', { ...OURS, ...OLD, ...OLD_DURATION }],
    ['latest', { ...OURS, ...NEW }],
    ['both', { ...OURS, ...OLD, ...OLD_DURATION, ...NEW }],
  ])('by the names of %s', async (semconv, expected) => {
    await converse(semconv, '{"text":"x"}', '{"text":5}')
    const found = await metricsNow()
    expect(sorted(found)).toEqual(sorted(expected))
  })

  test('a batch that is handed over again is counted as answered from the ledger', async () => {
    const runId = await converse(undefined, '{"text":"x"}')
    const batch = {
      choice: 0,
      calls: [
        { callId: 'c0', ordinal: 0, name: 'note', argumentsText: '{"text":"x"}', parsedArguments: { text: 'x' } },
      ],
    }
    const place = { runId: `${runId}_more`, turn: 1 }
    await executor?.run(batch, place)
    await executor?.run(batch, place)
    expect((await metricsNow())['streamfold.tool_call.duplicate_suppressed']).toEqual([
      [{ 'gen_ai.tool.name': 'note' }, 1],
    ])
    expect(lines.map(({ replayed }) => replayed)).toEqual([false, false, true])
  })

  test('a name that the model made up is no label', async () => {
    await converse(undefined, '{"text":"x"}')
    const call = { callId: 'c', ordinal: 0, name: `made_up_${SECRET}`, argumentsText: '{}', parsedArguments: {} }
    await executor?.run({ choice: 0, calls: [call] }, { runId: `run_${++runs}`, turn: 1 })
    const states = (await metricsNow())['streamfold.tool_call.state']
    expect(states?.map(([attributes]) => attributes['gen_ai.tool.name'])).toEqual(['note', 'unknown'])
  })
})

describe('content', () => {
  test('is in no span, metric or line: neither arguments, results, messages nor the words of errors', async () => {
    await converse('both', `{"text":"${SECRET}"}`, `{"text":"fail ${SECRET}"}`, `{"text":5,"x":"${SECRET}"}`)
    const told = spans
      .getFinishedSpans()
      .map(({ name, attributes, events, status, links }) => ({ name, attributes, events, status, links }))
    expect(told.length).toBeGreaterThan(0)
    expect(JSON.stringify([told, await metricsNow(), lines])).not.toContain(SECRET)
  })

  test('a line has hashes, lengths and names', async () => {
    const runId = await converse(undefined, '{"text":"é"}')
    expect(lines).toEqual([
      {
        runId,
        turn: 1,
        choice: 0,
        ordinal: 0,
        callId: 'c0',
        tool: 'note',
        status: 'succeeded',
        code: null,
        key: expect.any(String),
        replayed: false,
        argumentsHash: sha256Hex('{"text":"é"}'),
        argumentBytes: 13,
        argumentKeys: ['text'],
        resultHash: sha256Hex('{"kept":"é"}'),
        resultBytes: 13,
        truncated: false,
      },
    ])
  })
})

const span = (spanId: string) => ({ traceId: 't', spanId, traceFlags: 1 })

test('the newest inference span of a run is remembered, of a bounded number of runs', () => {
  const inferences = createInferenceSpans(2)
  inferences.remember('a', 1, span('a1'))
  inferences.remember('b', 1, span('b1'))
  inferences.remember('a', 2, span('a2'))
  inferences.remember('c', 1, span('c1'))
  expect(inferences.find('a', 1)).toBeUndefined()
  expect(inferences.find('a', 2)?.spanId).toBe('a2')
  expect(inferences.find('b', 1)).toBeUndefined()
  expect(inferences.find('c', 1)?.spanId).toBe('c1')
})
