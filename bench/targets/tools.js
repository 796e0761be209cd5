import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createExecutor,
  createGate,
  defineTool,
  jsonSchemaValidator,
  openLedger,
  openStore,
} from '../../packages/tools/dist/index.js'
import { alternate, median } from '../measure.js'

const TENANT = `bench-${process.pid}`
const LEASE_MS = 60_000

const ADDRESS = {
  type: 'object',
  properties: {
    street: { type: 'string', minLength: 1, maxLength: 100 },
    city: { type: 'string', minLength: 1, maxLength: 60 },
    country: { type: 'string', enum: ['DE', 'FR', 'JP', 'US'] },
  },
  required: ['street', 'city', 'country'],
}

/** What tools take: few fields; objects in lists; and a choice of forms, whose fields come from several places. */
const SCHEMAS = {
  flat: {
    type: 'object',
    properties: { city: { type: 'string', minLength: 1 }, days: { type: 'integer', minimum: 1, maximum: 7 } },
    required: ['city'],
  },
  nested: {
    type: 'object',
    properties: {
      order: { type: 'string', maxLength: 40 },
      to: ADDRESS,
      items: {
        type: 'array',
        maxItems: 100,
        items: {
          type: 'object',
          properties: { sku: { type: 'string' }, count: { type: 'integer', minimum: 1 }, note: { type: 'string' } },
          required: ['sku', 'count'],
        },
      },
    },
    required: ['order', 'items'],
  },
  choice: {
    type: 'object',
    properties: {
      payments: {
        type: 'array',
        items: {
          type: 'object',
          properties: { cents: { type: 'integer', minimum: 1 } },
          required: ['kind', 'cents'],
          anyOf: [
            {
              type: 'object',
              properties: { kind: { const: 'card' }, token: { type: 'string' }, address: ADDRESS },
              required: ['kind', 'token'],
            },
            {
              type: 'object',
              properties: { kind: { const: 'transfer' }, iban: { type: 'string', maxLength: 34 } },
              required: ['kind', 'iban'],
            },
          ],
        },
      },
      by: { type: 'string' },
    },
    anyOf: [{ required: ['payments'] }, { required: ['by'] }],
  },
}

const ADDRESS_VALUE = { street: 'Long Street 12', city: 'Somewhere', country: 'DE' }
const VALUES = {
  flat: { city: 'Frankfurt am Main', days: 3 },
  nested: {
    order: 'A-10293',
    to: ADDRESS_VALUE,
    items: Array.from({ length: 8 }, (_, at) => ({ sku: `sku-${at}`, count: at + 1, note: 'handle with care' })),
  },
  choice: {
    payments: Array.from({ length: 6 }, (_, at) =>
      at % 2 === 0
        ? { kind: 'card', cents: 1000 + at, token: 'tok_1N3T00LkdIwHu7ix', address: ADDRESS_VALUE }
        : { kind: 'transfer', cents: 2000 + at, iban: 'DE89370400440532013000' },
    ),
    by: 'ann',
  },
}

// A sample has to last many ticks of the clock, also of the fastest.
const TIMES = 5000

/** Validation of each schema beside `JSON.parse` of the same text. */
export async function measureValidation(kind, { rounds }) {
  const validator = jsonSchemaValidator(SCHEMAS[kind])
  const value = VALUES[kind]
  const text = JSON.stringify(value)
  if (!validator.validate(value).ok) throw new Error(`the ${kind} value does not fit its schema`)
  if (validator.validate({ ...value, more: 1 }).ok) throw new Error(`the ${kind} schema is open`)
  return await alternate(
    [
      {
        name: 'JSON.parse',
        run() {
          let last
          for (let at = 0; at < TIMES; at++) last = JSON.parse(text)
          return last
        },
      },
      {
        name: 'validation',
        run() {
          let last
          for (let at = 0; at < TIMES; at++) last = validator.validate(value)
          return last
        },
      },
    ],
    { rounds },
  )
}

/** Milliseconds, without those in which the main thread was ready to run and others had the processor. */
function clockMs() {
  const now = performance.now()
  if (process.platform !== 'linux') return now
  try {
    return now - Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    // Not every kernel has it.
    return now
  }
}

/** Times of a 4 KiB write that reaches the disk, in milliseconds. */
function syncTimes(folder, count) {
  const file = openSync(join(folder, 'sync'), 'w')
  const block = Buffer.alloc(4096, 1)
  const times = []
  for (let at = 0; at < count; at++) {
    const begin = clockMs()
    writeSync(file, block, 0, block.length, (at % 64) * 4096)
    fdatasyncSync(file)
    times.push(clockMs() - begin)
  }
  closeSync(file)
  return times
}

async function timesOf(count, work) {
  const taken = []
  for (let at = 0; at < count; at++) {
    const begin = clockMs()
    await work(at)
    taken.push(clockMs() - begin)
  }
  return taken
}

/** Runs per second with so many callers at once. */
async function rate(callers, each, work) {
  const begin = clockMs()
  await Promise.all(Array.from({ length: callers }, (_, caller) => timesOf(each, (at) => work(`${caller}-${at}`))))
  return (callers * each * 1000) / (clockMs() - begin)
}

async function withStore(address, work) {
  const folder = mkdtempSync(join(tmpdir(), 'streamfold-bench-'))
  const store = await openStore(address ?? join(folder, 'ledger.db'), { connections: 8 })
  try {
    return await work(store, folder)
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What durable commits cost beside the disk's own sync, alone and together. `address` names a PostgreSQL. */
export async function measureCommits(address) {
  return await withStore(address, async (store, folder) => {
    await store.query('create table if not exists bench_row(id text primary key, n integer not null)')
    const write = (id) =>
      store.query('insert into bench_row(id, n) values ($1, 1) on conflict (id) do update set n = bench_row.n + 1', [
        id,
      ])
    await timesOf(50, () => write('warm'))
    syncTimes(folder, 50)
    // In turns, so that a disk that is busy for a while is so for both.
    const pairs = []
    for (let round = 0; round < 5; round++) {
      pairs.push({ sync: syncTimes(folder, 80), commit: await timesOf(80, (at) => write(`${at % 20}`)) })
    }
    const sync = median(pairs.flatMap((pair) => pair.sync))
    const commit = median(pairs.flatMap((pair) => pair.commit))
    const gains = { 8: [], 64: [] }
    for (let round = 0; round < 3; round++) {
      const one = await rate(1, 200, write)
      for (const callers of [8, 64]) gains[callers].push((await rate(callers, 40, write)) / one)
    }
    return { sync, commit, eight: median(gains[8]), sixtyFour: median(gains[64]) }
  })
}

const request = (id, claimLimit) => ({
  tenant: TENANT,
  runId: `run-${id}`,
  turn: 1,
  choice: 0,
  contextJson: '{}',
  policy: 'hold-all',
  owner: 'bench',
  leaseMs: LEASE_MS,
  claimLimit,
  calls: [
    {
      ordinal: 0,
      callId: 'c',
      tool: 't',
      inputJson: `{"id":"${id}"}`,
      argumentsHash: id,
      verdict: 'pass',
      effect: 'read',
    },
  ],
})

/** Claims of 600 ready rows: one by one, and in tens. `twice` counts rows that were claimed by two. */
export async function measureClaims(address) {
  return await withStore(address, async (store) => {
    const ledger = await openLedger(store)
    for (let from = 0; from < 600; from += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, at) => ledger.release(request(`${from + at}`, 0))))
    }
    const seen = new Map()
    const claim = async (owner, limit) => {
      const claims = await ledger.claimReady({ tenant: TENANT, owner, leaseMs: LEASE_MS, limit, tools: ['t'] })
      for (const { execution } of claims) seen.set(execution.key, (seen.get(execution.key) ?? 0) + 1)
      return claims.length
    }
    const singly = median(await timesOf(50, () => claim('one', 1)))
    const tens = median(await timesOf(25, () => claim('ten', 10))) / 10
    // The rest, by eight at once.
    await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        while ((await claim(`worker-${worker}`, 7)) > 0);
      }),
    )
    return { gain: singly / tens, claimed: seen.size, twice: [...seen.values()].filter((count) => count > 1).length }
  })
}

/** A call from its batch to its result through gate, ledger and executor, with a tool that takes no time. */
export async function measureCall(address) {
  return await withStore(address, async (store) => {
    let commits = 0
    const counting = Object.create(store, {
      transaction: {
        value(body) {
          commits++
          return store.transaction(body)
        },
      },
      query: {
        value(...all) {
          commits++
          return store.query(...all)
        },
      },
    })
    const tool = defineTool({
      name: 'ship',
      description: 'Ships an order.',
      effect: 'idempotent',
      parameters: SCHEMAS.nested,
      operationId: ({ order }) => order,
      execute: () => ({ shipped: true }),
    })
    const tools = [tool]
    const policy = { revision: '1', rules: [{ tools: ['ship'], tenants: [TENANT], decision: 'allow' }] }
    const ledger = await openLedger(counting)
    const executor = createExecutor({ tools, policy, ledger, tenant: TENANT, recoverEveryMs: 0 })
    let calls = 0
    const callOf = () => {
      const parsedArguments = { ...VALUES.nested, order: `A-${++calls}` }
      return { callId: 'c', ordinal: 0, name: 'ship', argumentsText: JSON.stringify(parsedArguments), parsedArguments }
    }
    const whole = async () => {
      const call = callOf()
      const { results } = await executor.run({ choice: 0, calls: [call] }, { runId: `run-${calls}`, turn: 1 })
      if (results[0].status !== 'succeeded') throw new Error(results[0].content)
    }
    await timesOf(50, whole)
    commits = 0
    await whole()
    const perCall = commits
    const callMs = median(await timesOf(200, whole))
    const gate = createGate({ tools, policy })
    const context = { tenant: TENANT, runId: 'r', turn: 1, attempt: 1, choice: 0 }
    await timesOf(200, () => gate.check(callOf(), context))
    const gateMs = median(await timesOf(500, () => gate.check(callOf(), context)))
    await executor.close()
    return { perCall, callMs, gateMs }
  })
}
