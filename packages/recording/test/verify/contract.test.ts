import { adapterFor, createStreamEngine, streamResponse } from 'streamfold'
import { describe, expect, test } from 'vitest'
import { formatRecordings } from '../../src/file/recording-file.ts'
import { contract } from '../../src/verify/contract.ts'
import type { ContractCall, ContractOptions } from '../../src/verify/contract.ts'
import { call, delta, recordingOf, sse, TWO_CALLS } from '../wire.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The client of this library. */
async function careful(response: Response): Promise<readonly ContractCall[]> {
  const engine = createStreamEngine({ adapter: adapterFor('chat_completions') })
  const calls: ContractCall[] = []
  for await (const event of streamResponse(engine, () => Promise.resolve(response))) {
    if (event.type !== 'tool_batch_ready') continue
    calls.push(...event.calls.map(({ name, parsedArguments }) => ({ name, arguments: parsedArguments })))
  }
  return calls
}

interface ChatDelta {
  readonly tool_calls?: readonly {
    readonly index: number
    readonly function: { readonly name?: string; readonly arguments?: string }
  }[]
}

/** What is often written: lines of whole reads, and whatever was there when the body ended. */
async function careless(response: Response, wholeReads = true): Promise<readonly ContractCall[]> {
  const calls: { name: string; text: string }[] = []
  let rest = ''
  for await (const read of response.body!) {
    const text = wholeReads ? new TextDecoder().decode(read) : rest + new TextDecoder().decode(read)
    const lines = text.split('\n')
    rest = wholeReads ? '' : lines.pop()!
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue
      try {
        const { choices } = JSON.parse(line.slice(6)) as { choices: { delta: ChatDelta }[] }
        for (const { index, function: piece } of choices[0]?.delta.tool_calls ?? []) {
          calls[index] ??= { name: piece.name ?? '', text: '' }
          calls[index].text += piece.arguments ?? ''
        }
      } catch {
        // Half a line.
      }
    }
  }
  return calls.map(({ name, text }) => ({ name, arguments: safe(text) }))
}

function safe(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** Runs all tests that a contract registers: names of those that passed, and messages of those that did not. */
async function run(
  options: Omit<ContractOptions, 'test'>,
): Promise<{ passed: readonly string[]; failed: ReadonlyMap<string, string> }> {
  const tests: { name: string; body: () => Promise<void> }[] = []
  const folder = temporaryFolder()
  folder.write('two.sse', TWO_CALLS)
  contract(folder.path, { test: (name, body) => tests.push({ name, body }), ...options })
  const passed: string[] = []
  const failed = new Map<string, string>()
  for (const { name, body } of tests) {
    try {
      await body()
      passed.push(name)
    } catch (error) {
      failed.set(name, (error as Error).message)
    }
  }
  return { passed, failed }
}

function testNames(endless: boolean): readonly string[] {
  const names: string[] = []
  const folder = temporaryFolder()
  folder.write('two.sse', TWO_CALLS)
  folder.write('idle.stream.jsonl', formatRecordings([recordingOf([TWO_CALLS.slice(0, 400)], { end: 'timeout' })]))
  contract(folder.path, { test: (name) => names.push(name), read: careful, endless })
  return names
}

describe('a contract', () => {
  test('holds for the client of this library: every plan, every fault', async () => {
    const { passed, failed } = await run({ read: careful, plans: 'every-byte,event,random:3' })
    expect([...failed]).toEqual([])
    expect(passed).toContain('two: every-byte')
    expect(passed).toContain('two: cut:fin@call:0.1')
    expect(passed.length).toBeGreaterThan(40)
  })

  test('catches a client that takes reads for lines, and says how to see it', async () => {
    const { failed } = await run({ read: (response) => careless(response), plans: 'every-byte,event', faults: 'none' })
    // Whole events in whole reads, it gets them right.
    expect([...failed.keys()]).toEqual(['two: every-byte'])
    expect(failed.get('two: every-byte')).toMatch(/^cut by the plan at:\d+, two gives other calls: at \[0\]/)
  })

  test('catches a client that runs what was there when the body broke off', async () => {
    const { failed } = await run({
      read: (response) => careless(response, false),
      plans: 'event',
      faults: 'cut:fin@call:1.1;crlf',
    })
    expect([...failed.keys()]).toEqual(['two: cut:fin@call:1.1'])
    expect(failed.get('two: cut:fin@call:1.1')).toMatch(/^under the fault cut:fin@call:1\.1, two gives other calls/)
  })

  test('works over real HTTP, for a client that wants an address', async () => {
    const { passed, failed } = await run({
      request: async (url) => careful(await fetch(url, { method: 'POST', body: '{}' })),
      plans: 'byte',
      faults: 'cut:rst@call:0.1;gzip;status:429',
    })
    expect([...failed]).toEqual([])
    expect(passed).toEqual(['two: recorded', 'two: byte', 'two: cut:rst@call:0.1', 'two: gzip', 'two: status:429'])
  })

  test('leaves endless streams to clients with timers', () => {
    const plain = testNames(false)
    expect(plain.filter((name) => !name.startsWith('two: '))).toEqual([])
    const extra = testNames(true).filter((name) => !plain.includes(name))
    expect(extra.filter((name) => name.startsWith('two: '))).toEqual([
      'two: stay-open',
      'two: stall:forever@50%',
      'two: stall:forever@call:0.1',
    ])
    expect(extra).toContain('idle: recorded')
  })

  test('a client that never gives a call does not pass by that', async () => {
    const { failed } = await run({ read: () => Promise.reject(new Error('no')), plans: 'byte', faults: 'crlf' })
    expect([...failed.keys()]).toEqual(['two: recorded'])
    expect(failed.get('two: recorded')).toMatch(/^two as it was recorded gives other calls: at \[0\]/)
  })

  test('asks nothing of calls that the stream itself speaks against, once the evidence is taken away', async () => {
    const names: string[] = []
    const folder = temporaryFolder()
    // The second delivery of a call is told by its id alone.
    const twice = ['a', 'b'].map(() => call(0, '{}', 'call_1', 'pay'))
    folder.write('twice.sse', sse(...twice, delta({}, 'tool_calls'), '[DONE]'))
    contract(folder.path, { test: (name) => names.push(name), read: careful, faults: 'id-missing;crlf' })
    expect(names).toContain('twice: crlf')
    expect(names).not.toContain('twice: id-missing')
  })

  test('needs a client', async () => {
    const { failed } = await run({ plans: 'byte', faults: 'none' })
    expect(failed.get('two: byte')).toMatch(/contract needs a client/)
  })
})
