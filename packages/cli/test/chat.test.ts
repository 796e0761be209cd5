import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { openStore } from '@streamfold/tools'
import type { StreamReport } from 'streamfold'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runProgram } from '../src/program.ts'
import { memoryIo, reads, run } from './memory-io.ts'
import type { Ran } from './memory-io.ts'
import { temporarySamples } from './temporary-samples.ts'

const folder = temporarySamples({})
let ledgers = 0
const newLedger = (): string => join(folder, `ledger-${++ledgers}.db`)

const typed = (args: readonly string[], lines: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  run(args, { stdin: reads(lines), env })

const chat = (lines: string, ...args: readonly string[]): Promise<Ran> =>
  typed(['chat', '--ledger', newLedger(), ...args], lines)

const STATES = /: collecting$|^(?:complete|validated|authorized|waits|executing|succeeded|failed|unknown|held)\b/

/** What a transcript says of one call, without what the stream said. */
function fateOf(stdout: string, call: number): readonly string[] {
  const label = `call ${call}   `
  return stdout
    .split('\n')
    .filter((line) => line.startsWith(label))
    .map((line) => line.slice(label.length))
    .filter((line) => STATES.test(line))
}

describe('with the bundled script', () => {
  test('two calls of one answer pass through every state, and the results are told', async () => {
    const { exit, stdout } = await chat('add 17, 25 and 0.5; and 2026-12-01 for ja-JP\ny\nyes\n')
    expect(fateOf(stdout, 1)).toEqual([
      'add_numbers (call_1_1): collecting',
      'complete, 23 B of arguments',
      'validated',
      'waits for a yes: add_numbers',
      'authorized',
      'executing add_numbers',
      'succeeded: {"sum":42.5}',
    ])
    expect(fateOf(stdout, 2).slice(-3)).toEqual([
      'authorized',
      'executing format_date',
      'succeeded: {"text":"2026年12月1日"}',
    ])
    expect(stdout).toContain('run it? add_numbers({"numbers":[17,25,0.5]}) [y/N] y\n')
    expect(stdout).toContain('tool_authorized pass, tool_executed pass')
    expect(stdout).toContain('text     The sum is 42.5. The date is 2026年12月1日.')
    expect(exit).toBe(0)
  })

  test.each([
    { name: 'a no', lines: 'add 1 and 2\nn\n' },
    { name: 'an empty line', lines: 'add 1 and 2\n\n' },
    { name: 'another prompt', lines: 'add 1 and 2\nadd 3 and 4\n' },
    { name: 'the end of the input', lines: 'add 1 and 2\n' },
    { name: 'the end of the input without a line end', lines: 'add 1 and 2' },
  ])('$name is a no: nothing is run, and the model is told', async ({ lines }) => {
    const { exit, stdout } = await chat(lines)
    expect(fateOf(stdout, 1).slice(-2)).toEqual([
      'waits for a yes: add_numbers',
      'failed (approval_denied): a person declined this call',
    ])
    expect(stdout).toContain('tool_authorized fail (approval_denied), tool_executed not_reached')
    expect(stdout).toContain('That did not work: Not run (approval_denied): a person declined this call')
    expect(stdout).not.toContain('executing')
    expect(exit).toBe(0)
  })

  test('one no holds the other call of the answer', async () => {
    const { stdout } = await chat('add 1 and 2, and 2026-12-01\ny\nn\n')
    expect(fateOf(stdout, 1).at(-1)).toMatch(/^held \(batch_held\)/)
    expect(fateOf(stdout, 2).at(-1)).toMatch(/^failed \(approval_denied\)/)
    expect(stdout).not.toContain('executing')
  })

  test('--approve always asks nobody', async () => {
    const { stdout } = await chat('add 1 and 2\n', '--approve', 'always')
    expect(fateOf(stdout, 1).slice(2)).toEqual([
      'validated',
      'authorized',
      'executing add_numbers',
      'succeeded: {"sum":3}',
    ])
    expect(stdout).not.toContain('run it?')
  })

  test('--approve never lets nothing run', async () => {
    const { stdout } = await chat('add 1 and 2\ny\n', '--approve', 'never')
    expect(stdout).not.toContain('run it?')
    // Nobody is asked, so no call is said to wait for anybody.
    expect(fateOf(stdout, 1).slice(2)).toEqual([
      'failed (not_authorized): add_numbers was not run. This chat runs no calls (--approve never); with --approve ask a person decides.',
    ])
  })

  test.each([
    { name: 'a day that is none', prompt: '2026-02-30', says: 'failed (execution_failed): there is no day 2026-02-30' },
  ])('$name', async ({ prompt, says }) => {
    const { exit, stdout } = await chat(`${prompt}\n`, '--approve', 'always')
    expect(fateOf(stdout, 1).at(-1)).toContain(says)
    expect(exit).toBe(0)
  })

  test('no call for what holds neither numbers nor a date; empty lines are passed over', async () => {
    const { exit, stdout } = await chat('\n  \nhello\n')
    expect(stdout).toContain('I am a script, not a model.')
    expect(stdout).not.toContain('call 1')
    expect(exit).toBe(0)
  })

  test('a chat can be gone on with: the last answer is shown, and a new prompt is a new run', async () => {
    const ledger = newLedger()
    const first = await typed(['chat', '--ledger', ledger, '--approve', 'always'], 'add 1 and 2\n')
    const id = /--resume (chat-[0-9a-f]{10}) /.exec(first.stderr)?.[1] ?? ''
    expect(first.stderr).toContain(`streamfold chat --resume ${id} --approve always --ledger ${ledger}\n`)
    const again = ['chat', '--ledger', ledger, '--approve', 'always', '--resume', id]
    const second = await typed(again, 'add 3 and 4\n')
    expect(second.stdout).toMatch(/^asked +add 1 and 2\nanswer +The sum is 3\.\n\nyou add 3 and 4\n/)
    expect(second.stdout).toContain('The sum is 7.')
    const third = await typed(again, '')
    expect(third.stdout).toMatch(/^asked +add 3 and 4\nanswer +The sum is 7\.\n/)
    const list = await typed(['ledger', 'list', '--ledger', ledger, '--json'], '')
    expect((JSON.parse(list.stdout) as { executions: { runId: string }[] }).executions).toMatchObject([
      { runId: `${id}.2`, state: 'succeeded', fence: 1 },
      { runId: `${id}.1`, state: 'succeeded', fence: 1 },
    ])
  })

  test('--report keeps the completed report of each answer with calls', async () => {
    const file = join(folder, 'reports.jsonl')
    await chat('add 1 and 2\ny\nhello\nadd 3 and 4\nn\n', '--report', file)
    const reports = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(reports.map((line) => JSON.parse(line) as StreamReport)).toMatchObject([
      { verdict: { tool_executed: { state: 'pass' } }, attempts: [{ executed: true }] },
      { verdict: { tool_authorized: { state: 'fail', code: 'approval_denied' } }, attempts: [{ executed: false }] },
    ])
  })

  test('a report that can not be written is told, and the chat goes on', async () => {
    const { exit, stdout, stderr } = await chat('add 1 and 2\ny\n', '--report', join(folder, 'nowhere', 'r.jsonl'))
    expect(stderr).toMatch(/a report was not written: ENOENT/)
    expect(stdout).toContain('The sum is 3.')
    expect(exit).toBe(0)
  })

  test('an interrupt while a question is open leaves it open', async () => {
    const abort = new AbortController()
    const ledger = newLedger()
    const memory = memoryIo({
      signal: abort.signal,
      stdin: (async function* () {
        yield 'add 1 and 2\n'
        abort.abort()
        yield* reads()
      })(),
    })
    expect(await runProgram(['chat', '--ledger', ledger], memory.io)).toBe(130)
    const id = /interrupted; go on with: streamfold chat --resume (\S+)/.exec(memory.stderr())?.[1] ?? ''
    const { exit, stdout } = await typed(['chat', '--ledger', ledger, '--resume', id], 'y\n')
    expect(stdout).toContain('run it? add_numbers({"numbers":[1,2]}) [y/N] y\n')
    expect(stdout).toContain('The sum is 3.')
    expect(exit).toBe(0)
  })
})

describe('what can not work is refused before anything is done', () => {
  test.each([
    { args: ['--base-url', 'http://localhost:1'], says: /needs --model NAME/ },
    { args: ['--base-url', 'ftp://x', '--model', 'm'], says: /no http\(s\) URL/ },
    { args: ['--model', 'm'], says: /no key: set OPENAI_API_KEY/ },
    { args: ['--model', 'm', '--api', 'anthropic_messages'], says: /no key: set ANTHROPIC_API_KEY/ },
    { args: ['--model', 'm', '--api-key-env', 'MY_KEY'], says: /MY_KEY is not set/ },
    { args: ['--model', 'm', '--api', 'bedrock_converse'], says: /no public address; give --base-url/ },
    { args: ['--model', 'm', '--api', 'completions'], says: /Allowed choices are chat_completions/ },
    { args: ['--approve', 'maybe'], says: /Allowed choices are ask, always, never/ },
    { args: ['--resume', '../x'], says: /no id of a chat/ },
    { args: ['--tool-time', 'long'], says: /must be an integer from 0/ },
  ])('$args', async ({ args, says }) => {
    const { exit, stdout, stderr } = await chat('add 1 and 2\n', ...args)
    expect(exit).toBe(2)
    expect(stderr).toMatch(says)
    expect(stdout).toBe('')
  })

  test('a key that no header can carry is not shown', async () => {
    const { exit, stderr } = await typed(['chat', '--ledger', newLedger(), '--model', 'm'], '', {
      OPENAI_API_KEY: 'sk-secret\nrest',
    })
    expect(exit).toBe(2)
    expect(stderr).toMatch(/OPENAI_API_KEY holds characters/)
    expect(stderr).not.toContain('secret')
  })

  test('a line without an end', async () => {
    const { exit, stderr } = await chat('x'.repeat(1024 * 1024 + 1))
    expect(exit).toBe(2)
    expect(stderr).toMatch(/a line of more than 1048576 characters/)
  })

  test('a chat that is not in the ledger, and a ledger that can not be made', async () => {
    const ledger = newLedger()
    const none = await typed(['chat', '--ledger', ledger, '--resume', 'chat-0000000000'], '')
    expect([none.exit, none.stdout, none.stderr]).toEqual([
      3,
      '',
      `streamfold: there is no ledger ${ledger}; --ledger names another file, or a postgres:// address\n`,
    ])
    expect(existsSync(ledger)).toBe(false)
    await typed(['chat', '--ledger', ledger], '')
    const unknown = await typed(['chat', '--ledger', ledger, '--resume', 'chat-0000000000'], '')
    expect([unknown.exit, unknown.stdout, unknown.stderr]).toEqual([
      3,
      '',
      `streamfold: there is no chat chat-0000000000 in this ledger; streamfold ledger list --ledger ${ledger} shows the runs that are (CHAT.1, CHAT.2, …)\n`,
    ])
    const nowhere = await typed(['chat', '--ledger', join(folder, 'no', 'such', 'ledger.db')], '')
    expect([nowhere.exit, nowhere.stderr]).toEqual([3, expect.stringMatching(/the ledger can't be opened/)])
  })

  test('a ledger that is open already', async () => {
    const ledger = newLedger()
    const store = await openStore(ledger)
    onTestFinished(() => store.close())
    const { exit, stderr } = await typed(['chat', '--ledger', ledger], '')
    expect(exit).toBe(3)
    expect(stderr).toMatch(/open already/)
  })
})

type Handler = (body: string, request: IncomingMessage, response: ServerResponse) => void

async function endpoint(handle: Handler): Promise<readonly string[]> {
  const server = createServer((request, response) => {
    void readText(request).then((body) => handle(body, request, response))
  })
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  return ['--base-url', `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, '--model', 'm']
}

const sse = (...deltas: readonly object[]): string =>
  deltas.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('') + 'data: [DONE]\n\n'
const answer = (content: string): string =>
  sse({ id: 'c', choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] })

describe('with an endpoint', () => {
  test('gets the key, both tools, and everything that was said', async () => {
    const bodies: { messages: object[]; tools: { function: { name: string } }[]; model: string }[] = []
    const keys: unknown[] = []
    const flags = await endpoint((body, request, response) => {
      bodies.push(JSON.parse(body) as (typeof bodies)[number])
      keys.push(request.headers.authorization)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer(`answer ${bodies.length}`))
    })
    const args = ['chat', '--ledger', newLedger(), ...flags, '--api-key-env', 'K']
    const { exit, stdout, stderr } = await typed(args, 'one\ntwo\n', { K: 'sk-1' })
    expect(exit).toBe(0)
    expect(keys).toEqual(['Bearer sk-1', 'Bearer sk-1'])
    expect(bodies.map(({ tools }) => tools.map((tool) => tool.function.name))[0]).toEqual([
      'add_numbers',
      'format_date',
    ])
    expect(bodies[1]?.messages).toMatchObject([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'answer 1' },
      { role: 'user', content: 'two' },
    ])
    expect(stdout).toContain('text     answer 2')
    expect(stdout + stderr).not.toContain('sk-1')
  })

  test('a tool that there is not, in a name that writes to the terminal, is refused and stripped', async () => {
    let asked = 0
    const flags = await endpoint((_body, _request, response) => {
      const call = { index: 0, id: 'c1', type: 'function', function: { name: 'rm\u001B[31m', arguments: '{}' } }
      const wanted = { id: 'c', choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(asked++ === 0 ? sse(wanted) : answer('I see.'))
    })
    const { stdout, stderr } = await chat('do it\n', ...flags, '--approve', 'always')
    expect(stdout).toContain('unknown_tool')
    expect(stdout).not.toContain('executing')
    // oxlint-disable-next-line no-control-regex -- that is what is looked for
    expect(stdout + stderr).not.toMatch(/\u001B/)
  })

  test.each([
    { status: 401, exit: 4, says: /not answered: failed \(http_error\): .*; check the key in OPENAI_API_KEY\n/ },
    { status: 403, exit: 4, says: /not answered: failed \(http_error\): .*; check the key in OPENAI_API_KEY\n/ },
    { status: 400, exit: 1, says: /not answered: failed \(http_error\): (?!.*the key in)/ },
  ])('status $status: exit $exit, and the next prompt is taken', async ({ status, exit, says }) => {
    let asked = 0
    const bodies: string[] = []
    const flags = await endpoint((body, _request, response) => {
      bodies.push(body)
      if (asked++ === 0) response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{}}')
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer('here'))
    })
    const ran = await chat('one\ntwo\n', ...flags)
    expect(ran.exit).toBe(exit)
    expect(ran.stderr).toMatch(says)
    expect(ran.stdout).toContain('text     here')
    // What was never answered was never said.
    expect((JSON.parse(bodies[1] ?? '') as { messages: object[] }).messages).toMatchObject([{ content: 'two' }])
  })

  test('nobody is there', async () => {
    const flags = ['--base-url', 'http://127.0.0.1:1/v1', '--model', 'm']
    const { exit, stdout, stderr } = await chat('one\n', ...flags)
    expect(exit).toBe(4)
    expect(stderr).toMatch(
      /^streamfold: not answered: failed, http:\/\/127\.0\.0\.1:1\/v1 can't be reached \(connect_failed\): .*check the address/m,
    )
    // Nothing was shown that could be taken back.
    expect(stdout).not.toContain('taken')
    expect(stdout).toContain('failed   no answer: connect_failed\n')
  })

  test('an answer that is cut at the token limit is no answer', async () => {
    const flags = await endpoint((_body, _request, response) => {
      const cut = sse({ id: 'c', choices: [{ index: 0, delta: { content: 'so' }, finish_reason: 'length' }] })
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(cut)
    })
    const { exit, stderr } = await chat('one\n', ...flags)
    expect(exit).toBe(1)
    expect(stderr).toMatch(/not answered: truncated/)
  })
})
