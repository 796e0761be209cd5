import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { parseRecordings } from '@streamfold/recording'
import type { Recording } from 'streamfold/recording'
import { runProgram } from '../src/program.ts'
import { COMPLETED, delta, sse, WITH_CALL } from './bodies.ts'
import { COMMAND, finished, start } from './built-command.ts'
import { memoryIo, run } from './memory-io.ts'

const root = mkdtempSync(join(tmpdir(), 'streamfold-record-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function upstream(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const streaming =
  (body: string) =>
  (request: IncomingMessage, response: ServerResponse): void =>
    void request.resume().on('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body))

const folderOf = (): string => mkdtempSync(join(root, 'case-'))

function recordingsIn(folder: string): readonly Recording[] {
  return readdirSync(folder).flatMap((name) => parseRecordings(readFileSync(join(folder, name))))
}

/** Waits for what a process says, whatever else it does. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('a proxy', () => {
  test('says its address, records until it is interrupted, tells of each recording', async () => {
    const to = await upstream(streaming(COMPLETED))
    const folder = folderOf()
    const interrupt = new AbortController()
    const memory = memoryIo({ signal: interrupt.signal })
    const running = runProgram(
      ['record', '--to', `${to}/v1`, '--out', folder, '--label', 'case=a=b', '--api', 'chat_completions'],
      memory.io,
    )
    await until(() => memory.stdout().includes('\n'))
    const url = memory.stdout().trim()
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(await (await fetch(`${url}/chat/completions`, { method: 'POST', body: '{"n":2}' })).text()).toBe(COMPLETED)
    interrupt.abort()
    expect(await running).toBe(130)
    const [recording] = recordingsIn(folder)
    expect(recording!.head).toMatchObject({
      api: 'chat_completions',
      by: 'streamfold record',
      other: { labels: { case: 'a=b' } },
    })
    expect(recording!.request!.body).toBeUndefined()
    const [banner, told] = memory.stderr().split('\n')
    expect(banner).toMatch(
      /^streamfold: recording what goes to http:.*, without request bodies, into .* keep it out of version control/,
    )
    expect(told).toMatch(
      /^streamfold: POST http:.*\/v1\/chat\/completions 200, \d+ bytes in \d+ reads?, complete: .*\.stream\.jsonl$/,
    )
  })

  test('that is killed leaves a file that can be read', async () => {
    const first = sse(delta({ content: 'Hello' }))
    const to = await upstream((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(first)
    })
    const folder = folderOf()
    const child = start(COMMAND, ['record', '--to', to, '--out', folder])
    closers.push(() => void child.kill('SIGKILL'))
    const done = finished(child)
    const url = await new Promise<string>((resolve) =>
      child.stdout.once('data', (text: string) => resolve(text.trim())),
    )
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: '{}' })
    const reader = response.body!.getReader()
    await reader.read()
    // The client had it first; the file has it as soon as the disk does.
    const file = (): string =>
      readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .join('')
    await until(() => file().includes('"t":"b"'))
    child.kill('SIGKILL')
    expect(await done).toMatchObject({ signal: 'SIGKILL' })
    await reader.read().catch(() => {})
    const [recording] = recordingsIn(folder)
    expect(recording!.end).toBeUndefined()
    expect(Buffer.concat(recording!.reads.map(({ bytes }) => bytes)).toString()).toBe(first)
    const report = JSON.parse((await run(['inspect', '--json', join(folder, readdirSync(folder)[0]!)])).stdout) as {
      outcome: string
    }
    expect(report.outcome).toBe('incomplete')
  })

  test('that is interrupted ends what is open as aborted', async () => {
    const to = await upstream((_request, response) => void response.writeHead(200).write('data: 1\n\n'))
    const folder = folderOf()
    const child = start(COMMAND, ['record', '--to', to, '--out', folder, '--json'])
    closers.push(() => void child.kill('SIGKILL'))
    const done = finished(child)
    const said = await new Promise<string>((resolve) => child.stdout.once('data', resolve))
    const { schema, url, out } = JSON.parse(said) as { schema: string; url: string; out: string }
    expect([schema, out]).toEqual(['streamfold/record@1', folder])
    const reader = (await fetch(url)).body!.getReader()
    await reader.read()
    child.kill('SIGINT')
    expect((await done).code).toBe(130)
    await reader.read().catch(() => {})
    expect(recordingsIn(folder)[0]!.end).toMatchObject({ kind: 'aborted', other: { by: 'proxy' } })
  })
})

describe('around a command', () => {
  const script = `fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST', body: '{}' }).then((r) => r.text()).then((t) => process.stdout.write(t))`

  test('its requests go through the recorder', async () => {
    const to = await upstream(streaming(COMPLETED))
    const folder = folderOf()
    const { exit, stdout } = await run(['record', '--to', to, '--out', folder, '--', process.execPath, '-e', script], {
      env: { PATH: process.env['PATH']! },
    })
    expect([exit, stdout]).toEqual([0, COMPLETED])
    expect(recordingsIn(folder)[0]!.request!.url).toBe(`${to}/v1/chat/completions`)
  })

  test('its output is recorded', async () => {
    const folder = folderOf()
    const body = JSON.stringify(COMPLETED)
    const { exit, stdout, stderr } = await run(
      ['record', '--out', folder, '--', process.execPath, '-e', `process.stdout.write(${body})`],
      { env: {} },
    )
    expect([exit, stdout]).toEqual([0, COMPLETED])
    expect(stderr).toMatch(/complete: .*\.stream\.jsonl\n$/)
    expect(recordingsIn(folder)).toHaveLength(1)
  })

  test('that fails', async () => {
    const { exit, stderr } = await run(
      ['record', '--out', folderOf(), '--', process.execPath, '-e', 'process.exitCode = 7'],
      { env: {} },
    )
    expect(exit).toBe(1)
    expect(stderr).toContain('the command ended with exit code 7')
  })

  test.each([
    { name: 'is not there', command: '/no/such/command', says: 'no such command; check the spelling, and the PATH' },
    { name: 'is no program', command: root, says: "it can't be executed; name a program, or make the file executable" },
  ])('that $name: one line, and no recording', async ({ command, says }) => {
    const folder = folderOf()
    expect(await run(['record', '--out', folder, '--', command])).toEqual({
      exit: 2,
      stdout: '',
      stderr: `streamfold: ${command}: ${says}\n`,
    })
    expect(readdirSync(folder)).toEqual([])
  })

  test('that ends with the number which a shell has for a missing command is recorded all the same', async () => {
    const folder = folderOf()
    const args = ['record', '--out', folder, '--', process.execPath, '-e', 'process.exitCode = 127']
    expect(await run(args, { env: {} })).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('the command ended with exit code 127') as string,
    })
    expect(recordingsIn(folder)[0]!.end).toMatchObject({ kind: 'error', code: 'exit_127' })
  })
})

describe('a baseline', () => {
  test('one request, with the key of the environment, and the verdict', async () => {
    let seen: { authorization: string | undefined; body: string } | undefined
    const to = await upstream((request, response) => {
      let body = ''
      request
        .on('data', (bytes: Buffer) => (body += bytes.toString()))
        .on('end', () => {
          seen = { authorization: request.headers.authorization, body }
          response.writeHead(200, { 'content-type': 'text/event-stream' }).end(WITH_CALL)
        })
    })
    const folder = folderOf()
    const { exit, stdout, stderr } = await run(
      ['record', '--baseline', '--to', `${to}/v1`, '--model', 'm', '--out', folder],
      { env: { OPENAI_API_KEY: 'the-key-itself' } },
    )
    expect(exit).toBe(0)
    expect(seen!.authorization).toBe('Bearer the-key-itself')
    expect(JSON.parse(seen!.body)).toMatchObject({ model: 'm', stream: true, tools: [{ function: { name: 'add' } }] })
    const file = stdout.trim()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).not.toContain('the-key-itself')
    expect(stderr).toMatch(/complete: .*\nstreamfold: completed\n$/)
  })

  test.each([
    {
      name: 'a call of another tool',
      body: WITH_CALL.replace('"add"', '"subtract"'),
      says: /\nstreamfold: completed, but not as wanted: the call of subtract is not released \(unknown_tool: /,
    },
    {
      name: 'text in place of the call',
      body: COMPLETED,
      says: /\nstreamfold: completed, but not as wanted: a tool was asked for by name, and no call came\n$/,
    },
  ])('an answer that ended well, with $name: exit 1, and why', async ({ body, says }) => {
    const to = await upstream(
      (request, response) =>
        void request
          .resume()
          .on('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body)),
    )
    const asked = ['record', '--baseline', '--to', to, '--model', 'm', '--out', folderOf()]
    const { exit, stderr } = await run(asked)
    expect(exit).toBe(1)
    expect(stderr).toMatch(says)
    expect(stderr.match(/not as wanted/g)).toHaveLength(1)
    const told = await run([...asked, '--json'])
    const { reason, outcome, error } = JSON.parse(told.stdout) as { reason: string; outcome: string; error: unknown }
    expect([told.exit, outcome, error]).toEqual([1, 'completed', null])
    expect(`\nstreamfold: completed, but not as wanted: ${reason}\n`).toMatch(says)
  })

  test('a recording that is gone before it is read: exit 2, with its name', async () => {
    const folder = folderOf()
    const to = await upstream(
      (request, response) =>
        void request.resume().on('end', () => {
          rmSync(folder, { recursive: true })
          response.writeHead(200, { 'content-type': 'text/event-stream' }).end(WITH_CALL)
        }),
    )
    const { exit, stdout, stderr } = await run(['record', '--baseline', '--to', to, '--model', 'm', '--out', folder])
    expect([exit, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/\.stream\.jsonl: no such file\n$/)
  })

  test.each([
    { name: 'an endpoint that is not there', status: undefined, exit: 4, says: /no response.*ECONNREFUSED/ },
    { name: 'a key that is refused', status: 401, exit: 4, says: /401/ },
    { name: 'an answer that is not as wanted', status: 500, exit: 1, says: /failed \(http_error/ },
  ])('$name: exit $exit', async ({ status, exit, says }) => {
    const to =
      status === undefined
        ? 'http://127.0.0.1:9'
        : await upstream(
            (request, response) =>
              void request.resume().on('end', () => response.writeHead(status).end('{"error":{"message":"no"}}')),
          )
    const result = await run(['record', '--baseline', '--json', '--to', to, '--model', 'm', '--out', folderOf()])
    expect(result.exit).toBe(exit)
    expect(result.stderr).toMatch(says)
    const told = JSON.parse(result.stdout) as { error: { code: string } | null; reason: string | null }
    expect(told).toMatchObject({ schema: 'streamfold/record@1' })
    expect(told.reason).toMatch(told.error === null ? /^$/ : new RegExp(`^${told.error.code}: `))
  })
})

describe('usage', () => {
  test.each([
    { args: [], says: /needs --to URL.*or -- COMMAND/ },
    { args: ['--to', 'api.example.com'], says: /--to: "api\.example\.com" is no http\(s\) URL/ },
    { args: ['--to', 'ftp://a.example'], says: /is no http\(s\) URL/ },
    { args: ['--to', 'http://a.example', '--listen', 'a:b'], says: /--listen takes PORT/ },
    { args: ['--to', 'http://a.example', '--listen', '99999'], says: /--listen takes PORT/ },
    { args: ['--listen', '1', '--', 'true'], says: /go with --to/ },
    { args: ['--to', 'http://a.example', '--label', 'x'], says: /--label takes NAME=VALUE/ },
    { args: ['--baseline', '--to', 'http://a.example'], says: /--baseline needs/ },
    { args: ['--model', 'm', '--to', 'http://a.example'], says: /--model goes with --baseline/ },
    {
      args: ['--baseline', '--model', 'm', '--to', 'http://a.example', '--api', 'soap'],
      says: /no baseline request for "soap"/,
    },
    { args: ['--json', '--to', 'http://a.example', '--', 'true'], says: /share standard output/ },
  ])('$args', async ({ args, says }) => {
    const { exit, stdout, stderr } = await run(['record', '--out', root, ...args])
    expect([exit, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(says)
  })

  test('a folder that can not be made', async () => {
    expect(await run(['record', '--to', 'http://a.example', '--out', '/dev/null/x'])).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/\/dev\/null\/x: /) as string,
    })
  })

  test('a port that is taken', async () => {
    const to = await upstream(streaming(COMPLETED))
    const { exit, stderr } = await run([
      'record',
      '--to',
      to,
      '--out',
      folderOf(),
      '--listen',
      `127.0.0.1:${new URL(to).port}`,
    ])
    expect(exit).toBe(2)
    expect(stderr).toMatch(/can't listen there \(EADDRINUSE\)/)
  })
})
