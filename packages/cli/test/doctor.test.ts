import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { openLedger, openStore } from '@streamfold/tools'
import { expect, onTestFinished, test } from 'vitest'
import { runProgram } from '../src/program.ts'
import { memoryIo } from './memory-io.ts'
import type { MemoryIoOptions } from './memory-io.ts'
import { temporarySamples } from './temporary-samples.ts'

const folder = temporarySamples({})

interface Report {
  readonly schema: string
  readonly checks: readonly { readonly name: string; readonly state: string; readonly detail: string }[]
}

async function doctor(args: readonly string[] = [], options: MemoryIoOptions = {}) {
  const memory = memoryIo(options)
  const exit = await runProgram(['doctor', ...args], memory.io)
  return { exit, stdout: memory.stdout(), stderr: memory.stderr() }
}

test('a machine that runs these tests has all it takes', async () => {
  const { exit, stdout } = await doctor(['--json'])
  const { schema, checks } = JSON.parse(stdout) as Report
  expect(schema).toBe('streamfold/doctor@1')
  expect(checks.map(({ name, state }) => `${name}: ${state}`)).toEqual([
    'node: ok',
    'sqlite: ok',
    'ledger folder: ok',
    'temporary folder: ok',
    'loopback: ok',
    'terminal: ok',
  ])
  expect(exit).toBe(0)
})

test('for people, a line each', async () => {
  const { stdout } = await doctor()
  expect(stdout).toMatch(/^ok +node +\d+\.\d+\.\d+ on /m)
  expect(stdout).toMatch(/^ok +sqlite +(?:libsql|node:sqlite), a ledger was written and read$/m)
})

test.each([
  { env: { LANG: 'C.UTF-8', TERM: 'xterm' }, state: 'ok', detail: '90 columns, colours, Unicode' },
  { env: { LANG: 'C', TERM: 'xterm' }, state: 'warn', detail: '90 columns, colours, ASCII' },
  { env: { LANG: 'C.UTF-8', NO_COLOR: '1' }, state: 'warn', detail: '90 columns, no colours, ASCII' },
])('a terminal with $env is $state', async ({ env, state, detail }) => {
  const { exit, stdout } = await doctor(['--json'], { env, isTTY: true, columns: 90 })
  const terminal = (JSON.parse(stdout) as Report).checks.find(({ name }) => name === 'terminal')
  expect(terminal).toMatchObject({ state, detail })
  // A warning is no failure.
  expect(exit).toBe(0)
})

test('an endpoint that answers, whatever it says, without what is secret in its address', async () => {
  const server = createServer((_request, response) => void response.writeHead(404).end())
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const { exit, stdout } = await doctor(['--base-url', `http://127.0.0.1:${port}/v1?key=secret`])
  expect(stdout).toMatch(
    new RegExp(`^ok +endpoint +http://127\\.0\\.0\\.1:${port}/v1 answers \\(404 after \\d+ ms\\)$`, 'm'),
  )
  expect(stdout).not.toContain('secret')
  expect(exit).toBe(0)
})

test('only the endpoint fails: exit 4', async () => {
  const { exit, stdout } = await doctor(['--base-url', 'http://127.0.0.1:1/v1'])
  expect(stdout).toMatch(/^FAIL +endpoint +http:\/\/127\.0\.0\.1:1\/v1: .+\n +check the address/m)
  expect(exit).toBe(4)
})

test('an address that is none', async () => {
  const { exit, stdout, stderr } = await doctor(['--base-url', 'localhost:8080'])
  expect([exit, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/is no http\(s\) URL/)
})

test('a ledger that can be made, one that is there, and a file that is none', async () => {
  const fresh = await doctor(['--ledger', join(folder, 'new.db')])
  expect(fresh.exit).toBe(0)
  expect(fresh.stdout).toMatch(/^ok +ledger +.*new\.db is not there yet, and can be made$/m)
  const there = join(folder, 'there.db')
  const store = await openStore(there)
  const empty = await doctor(['--ledger', there])
  expect(empty.stdout).toMatch(/^ok +ledger +.*there\.db holds no ledger yet/m)
  await openLedger(store)
  await store.close()
  expect((await doctor(['--ledger', there])).stdout).toMatch(/^ok +ledger +.*there\.db holds a ledger$/m)
  const text = join(folder, 'text.db')
  writeFileSync(text, 'this is no database, and long enough to be looked at as one. '.repeat(20))
  const { exit, stdout } = await doctor(['--ledger', text])
  expect(stdout).toMatch(/^FAIL +ledger +/m)
  expect(exit).toBe(1)
})
