// What a recorded call costs, as ratios within one run: `node packages/tools/bench/targets.js [postgres://…]` after a build.
// Each line: name, measured, limit. Exit code 1 when one is not met.
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { openLedger, openStore } from '@streamfold/tools'

const TENANT = `bench-${process.pid}`
const directory = mkdtempSync(join(tmpdir(), 'streamfold-bench-'))
const results = []

const median = (values) => values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]

function report(name, measured, limit, atLeast = false) {
  const met = atLeast ? measured >= limit : measured <= limit
  results.push(met)
  process.stdout.write(
    `${met ? 'met   ' : 'missed'} ${name}: ${measured.toFixed(2)} (${atLeast ? 'at least' : 'at most'} ${limit})\n`,
  )
}

function syncTimes(count) {
  const file = openSync(join(directory, 'sync'), 'w')
  const block = Buffer.alloc(4096, 1)
  const times = []
  for (let at = 0; at < count; at += 1) {
    const begin = performance.now()
    writeSync(file, block, 0, block.length, (at % 64) * 4096)
    fdatasyncSync(file)
    times.push(performance.now() - begin)
  }
  closeSync(file)
  return times
}

async function timesOf(count, work) {
  const taken = []
  for (let at = 0; at < count; at += 1) {
    const begin = performance.now()
    await work(at)
    taken.push(performance.now() - begin)
  }
  return taken
}

/** Transactions per second with so many callers at once. */
async function rate(callers, each, work) {
  const begin = performance.now()
  await Promise.all(Array.from({ length: callers }, (_, caller) => timesOf(each, (at) => work(`${caller}-${at}`))))
  return (callers * each * 1000) / (performance.now() - begin)
}

async function measure(name, store, syncMs, limits) {
  const ledger = await openLedger(store)
  let commits = 0
  const counted = await openLedger({
    dialect: store.dialect,
    exclusive: false,
    readOnly: true,
    query: (...all) => store.query(...all),
    transaction(body) {
      commits += 1
      return store.transaction(body)
    },
    close: async () => {},
  })
  const call = (id, claimLimit) => ({
    tenant: TENANT,
    runId: `${name}-${id}`,
    turn: 1,
    choice: 0,
    contextJson: '{}',
    policy: 'hold-all',
    owner: 'bench',
    leaseMs: 60_000,
    claimLimit,
    calls: [
      {
        ordinal: 0,
        callId: 'c',
        tool: 't',
        inputJson: `{"id":"${id}"}`,
        argumentsHash: String(id),
        verdict: 'pass',
        effect: 'read',
      },
    ],
  })
  const whole = async (using, id) => {
    const { calls } = await using.release(call(id, 1))
    await using.finish(calls[0].claim, { state: 'succeeded', result: '{"ok":true}', truncated: false })
  }

  await whole(counted, 'count')
  report(`${name}: commits per call`, commits, 2)

  await store.query('create table if not exists bench_row(id text primary key, n integer not null)')
  const write = (id) =>
    store.query('insert into bench_row(id, n) values ($1, 1) on conflict (id) do update set n = bench_row.n + 1', [id])
  await timesOf(50, () => write('warm'))
  report(
    `${name}: one durable write / one sync`,
    median(await timesOf(300, (at) => write(`${at % 20}`))) / syncMs,
    limits.write,
  )
  const one = await rate(1, 400, write)
  report(`${name}: 8 callers / 1`, (await rate(8, 200, write)) / one, limits.eight, true)
  report(`${name}: 64 callers / 1`, (await rate(64, 40, write)) / one, limits.sixtyFour, true)

  const callMs = median(await timesOf(100, (at) => whole(ledger, `whole-${at}`)))
  report(`${name}: a recorded call, as a share of a tool of 1 s, in %`, callMs / 10, 1)

  const ready = async (count, from) => {
    for (let at = 0; at < count; at += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, each) => ledger.release(call(`${from}-${at + each}`, 0))))
    }
  }
  const claim = (limit) => ledger.claimReady({ tenant: TENANT, owner: 'bench', leaseMs: 60_000, limit, tools: ['t'] })
  await ready(600, 'ready')
  const single = median(await timesOf(50, () => claim(1)))
  const tens = median(await timesOf(50, () => claim(10))) / 10
  report(`${name}: claims in tens / singly`, single / tens, 3, true)
}

try {
  syncTimes(50)
  const syncMs = median(syncTimes(300))
  process.stdout.write(`one 4 KiB write with fdatasync: ${syncMs.toFixed(3)} ms (median)\n`)
  const embedded = await openStore(join(directory, 'ledger.db'))
  await measure('embedded', embedded, syncMs, { write: 2, eight: 3, sixtyFour: 5 })
  await embedded.close()
  const [, , address] = process.argv
  if (address !== undefined) {
    const shared = await openStore(address, { connections: 8 })
    await measure('postgres', shared, syncMs, { write: 4, eight: 2, sixtyFour: 2 })
    await shared.close()
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
process.exitCode = results.every(Boolean) ? 0 : 1
