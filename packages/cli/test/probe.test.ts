import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CapabilityRecord, PathDocument } from '@streamfold/recording'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { COMPLETED, WITH_CALL } from './bodies.ts'
import { run } from './memory-io.ts'
import { temporarySamples } from './temporary-samples.ts'

vi.setConfig({ testTimeout: 30_000 })

/** A call of the tool that a probe declares. */
const CALL = WITH_CALL.replaceAll('"add"', '"store_text"')
const folder = temporarySamples({
  'claims.json': '{"tools":"yes","parallel_calls":"yes"}',
  'odd.json': '{"telepathy":"yes"}',
})
let server: Server
let url = ''
const keys: (string | undefined)[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    keys.push(request.headers.authorization)
    let body = ''
    request.setEncoding('utf8').on('data', (read: string) => (body += read))
    request.on('end', () => {
      if (body === '') return response.writeHead(404).end()
      const asked = JSON.parse(body) as { max_tokens: number; tools?: unknown }
      if (request.headers.authorization === 'Bearer wrong') return response.writeHead(401).end('{}')
      if (asked.max_tokens < 0)
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}')
      else
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(asked.tools === undefined ? COMPLETED : CALL)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})

afterAll(() => void server.close())

const probe = (...args: readonly string[]): ReturnType<typeof run> =>
  run(['probe', url, '--model', 'm', '--repeat', '1', ...args])

describe('streamfold probe', () => {
  test('prints the matrix, and writes the record', async () => {
    const out = join(folder, 'capabilities.json')
    const { exit, stdout } = await probe('--out', out, '--record', join(folder, 'evidence'))
    expect(exit).toBe(0)
    expect(stdout).toMatch(/^ {2}tools +yes +1 call, released {2}\(tool-stream-1\.stream\.jsonl\)$/m)
    expect(stdout).toMatch(/^ {2}parallel_calls +no +one call where two were asked for/m)
    expect(stdout).toMatch(/^ {2}6 of 20 requests, 1 round$/m)
    expect((JSON.parse(readFileSync(out, 'utf8')) as CapabilityRecord).schema).toBe('streamfold/capabilities@1')
  })

  test('a record that can not be written does not take the measurement along', async () => {
    const { exit, stdout, stderr } = await probe('--out', join(folder, 'nowhere', 'c.json'))
    expect(exit).toBe(2)
    expect(stdout).toMatch(/^ {2}6 of 20 requests, 1 round$/m)
    expect(stderr).toMatch(/c\.json was not written: ENOENT/)
  })

  test('--against: 0 without drift, 1 with it', async () => {
    const file = join(folder, 'before.json')
    const { stdout } = await probe('--json')
    writeFileSync(file, stdout)
    const same = await probe('--against', file)
    expect(same.exit).toBe(0)
    expect(same.stdout).toMatch(/no drift since \d{4}-/)
    writeFileSync(file, stdout.replace('"state": "no"', '"state": "yes"'))
    const drifted = await probe('--against', file)
    expect(drifted.exit).toBe(1)
    expect(drifted.stdout).toMatch(/drift since .*: \w+ yes -> no/)
  })

  test('--claims: a contradicted one is 1, one that nothing speaks for is unverified', async () => {
    const claims = join(folder, 'claims.json')
    const all = await probe('--claims', claims)
    expect(all.exit).toBe(1)
    expect(all.stdout).toMatch(/tools +yes .*\[claimed yes: verified\]/)
    expect(all.stdout).toMatch(/parallel_calls +no .*\[claimed yes: contradicted\]/)
    const few = await probe('--claims', claims, '--budget', '2')
    expect(few.exit).toBe(0)
    expect(few.stdout).toMatch(/tools +unknown .*\[claimed yes: unverified\]/)
  })

  test('--markdown', async () => {
    expect((await probe('--markdown')).stdout).toMatch(/^\| tools \| yes \| 1 call, released \|/m)
  })

  test('the key comes from the environment, by name', async () => {
    keys.length = 0
    await run(['probe', url, '--model', 'm', '--budget', '1'], { env: { OPENAI_API_KEY: 'one' } })
    await run(['probe', url, '--model', 'm', '--budget', '1', '--key-env', 'MINE'], {
      env: { OPENAI_API_KEY: 'one', MINE: 'two' },
    })
    await run(['probe', url, '--model', 'm', '--budget', '1'])
    expect(keys).toEqual(['Bearer one', 'Bearer two', undefined])
  })

  test.each<{ name: string; args: () => readonly string[]; env?: Record<string, string>; exit: number; says: RegExp }>([
    { name: 'no model', args: () => [url], exit: 2, says: /required option '--model <name>'/ },
    {
      name: 'an API without a probe',
      args: () => [url, '--model', 'm', '--api', 'cohere'],
      exit: 2,
      says: /'cohere' is invalid/,
    },
    {
      name: 'no URL',
      args: () => ['nowhere', '--model', 'm'],
      exit: 2,
      says: /^streamfold: "nowhere" is no http\(s\) URL\n$/,
    },
    {
      name: 'a record that is not there',
      args: () => [url, '--model', 'm', '--against', '/no/such/file'],
      exit: 3,
      says: /^streamfold: \/no\/such\/file: no such file\n$/,
    },
    {
      name: 'no record',
      args: () => [url, '--model', 'm', '--against', join(folder, 'odd.json')],
      exit: 3,
      says: /it is no streamfold\/capabilities@1/,
    },
    {
      name: 'an odd claim',
      args: () => [url, '--model', 'm', '--claims', join(folder, 'odd.json')],
      exit: 3,
      says: /"telepathy" is no capability/,
    },
    {
      name: 'a refused key',
      args: () => [url, '--model', 'm'],
      env: { OPENAI_API_KEY: 'wrong' },
      exit: 4,
      says: /answered 401/,
    },
    { name: 'nobody there', args: () => ['http://127.0.0.1:1/v1', '--model', 'm'], exit: 4, says: /ECONNREFUSED/ },
  ])('$name: $exit', async ({ args, env, exit, says }) => {
    const result = await run(['probe', ...args()], env === undefined ? {} : { env })
    expect(result.exit).toBe(exit)
    expect(result.stderr).toMatch(says)
  })
})

describe('streamfold probe-path', () => {
  const QUICK = ['--events', '6', '--interval', '20', '--idle', '50']

  test('without a URL it asks its own source, which passes', async () => {
    const { exit, stdout, stderr } = await run(['probe-path', ...QUICK])
    expect(exit).toBe(0)
    expect(stdout).toMatch(/^as sent {2}http:\/\/127\.0\.0\.1:\d+\/\nok pass through: 7 events as sent\n/)
    expect(stderr).toMatch(/^source at http:/)
  })

  test('a path that leads elsewhere: 4', async () => {
    const { exit, stdout } = await run(['probe-path', ...QUICK, '--json', url])
    expect(exit).toBe(4)
    expect((JSON.parse(stdout) as PathDocument).verdicts.map(({ code }) => code)).toEqual(['unreachable'])
  })

  test('misuse: 2', async () => {
    expect(await run(['probe-path', 'nowhere'])).toEqual({
      exit: 2,
      stdout: '',
      stderr: 'streamfold: "nowhere" is no http(s) URL\n',
    })
    expect((await run(['probe-path', '--port', '70000'])).stderr).toMatch(/must be a port/)
    expect((await run(['probe-path', '--host', '192.0.2.1'])).stderr).toMatch(/can't listen there/)
  })
})
