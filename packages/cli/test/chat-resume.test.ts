import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { join } from 'node:path'
import type { ExecutionDetails } from '@streamfold/tools'
import { describe, expect, onTestFinished, test } from 'vitest'
import { COMMAND, finished, start } from './built-command.ts'
import type { Finished } from './built-command.ts'
import { temporarySamples } from './temporary-samples.ts'

const folder = temporarySamples({})
let ledgers = 0
/** Longer than any test: a tool that is interrupted has not come to its end by itself. */
const ENDLESS_MS = '600000'

interface Talk {
  readonly child: ChildProcessWithoutNullStreams
  /** Resolves once the output holds the text. */
  readonly says: (text: string) => Promise<void>
  readonly end: Promise<Finished>
}

function chat(ledger: string, ...args: readonly string[]): Talk {
  const child = start(COMMAND, ['chat', '--ledger', ledger, ...args])
  onTestFinished(() => void child.kill('SIGKILL'))
  const end = finished(child)
  let output = ''
  const says = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (output.includes(text)) resolve()
      }
      child.stdout.on('data', (piece: string) => {
        output += piece
        look()
      })
      child.once('close', () => {
        if (!output.includes(text)) reject(new Error(`it never said "${text}":\n${output}`))
      })
    })
  return { child, says, end }
}

const newLedger = (): string => join(folder, `ledger-${++ledgers}.db`)
const idOf = ({ stderr }: Finished): string => /--resume (chat-[0-9a-f]+)/.exec(stderr)?.[1] ?? ''

async function command(...args: readonly string[]): Promise<Finished> {
  const child = start(COMMAND, args)
  child.stdin.end()
  return await finished(child)
}

/** The one execution there is, with its evidence. */
async function onlyExecution(ledger: string): Promise<ExecutionDetails> {
  const list = await command('ledger', 'list', '--ledger', ledger, '--json')
  const { executions } = JSON.parse(list.stdout) as { executions: readonly { key: string }[] }
  expect(executions).toHaveLength(1)
  const shown = await command('ledger', 'show', executions[0]!.key, '--ledger', ledger, '--json')
  return JSON.parse(shown.stdout) as ExecutionDetails
}

describe('kill -9', () => {
  test('in the middle of a tool: the chat goes on, and the call was done once', async () => {
    const ledger = newLedger()
    const first = chat(ledger, '--approve', 'always', '--tool-time', ENDLESS_MS)
    const executing = first.says('executing add_numbers')
    first.child.stdin.write('add 17 and 25\n')
    await executing
    first.child.kill('SIGKILL')
    const killed = await first.end
    expect(killed.signal).toBe('SIGKILL')
    expect(killed.stdout).not.toContain('succeeded')

    const resumed = await command('chat', '--ledger', ledger, '--approve', 'always', '--resume', idOf(killed))
    expect(resumed.stdout).toContain('executing add_numbers again: claim 2')
    expect(resumed.stdout).toContain('succeeded: {"sum":42}')
    expect(resumed.stdout).toContain('text     The sum is 42.')
    expect(resumed.code).toBe(0)

    const { execution, attempts, calls } = await onlyExecution(ledger)
    expect(execution).toMatchObject({ state: 'succeeded', result: '{"sum":42}' })
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['lease_expired', 'succeeded'])
    expect(calls).toHaveLength(1)
  })

  test('after a tool was done: it is not run again, and the model is told its result', async () => {
    const ledger = newLedger()
    const first = chat(ledger, '--approve', 'always')
    const done = first.says('succeeded: {"sum":42}')
    first.child.stdin.write('add 17 and 25\n')
    await done
    first.child.kill('SIGKILL')
    const killed = await first.end

    const resumed = await command(
      'chat',
      '--ledger',
      ledger,
      '--approve',
      'always',
      '--tool-time',
      ENDLESS_MS,
      '--resume',
      idOf(killed),
    )
    expect(resumed.stdout).toContain('The sum is 42.')
    expect(resumed.stdout).not.toContain('executing')
    expect(resumed.code).toBe(0)
    const { attempts } = await onlyExecution(ledger)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['succeeded'])
  })

  test('while a question is open: it is asked again', async () => {
    const ledger = newLedger()
    const first = chat(ledger)
    const asked = first.says('run it? add_numbers')
    first.child.stdin.write('add 17 and 25\n')
    await asked
    first.child.kill('SIGKILL')
    const killed = await first.end

    const second = chat(ledger, '--resume', idOf(killed))
    second.child.stdin.end('y\n')
    const { stdout, code } = await second.end
    expect(stdout).toContain('run it? add_numbers({"numbers":[17,25]}) [y/N] y\n')
    expect(stdout).toContain('The sum is 42.')
    expect(code).toBe(0)
    expect((await onlyExecution(ledger)).attempts).toHaveLength(1)
  })
})

test.skipIf(process.platform === 'win32')(
  'an interrupt lets the tool that runs come to its end; going on finds it done',
  async () => {
    const ledger = newLedger()
    const first = chat(ledger, '--approve', 'always', '--tool-time', '500')
    const executing = first.says('executing add_numbers')
    first.child.stdin.write('add 17 and 25\n')
    await executing
    first.child.kill('SIGINT')
    const stopped = await first.end
    expect(stopped.code).toBe(130)
    expect(stopped.stdout).toContain('succeeded: {"sum":42}')
    expect(stopped.stdout).not.toContain('The sum is 42.')
    expect(stopped.stderr).toContain('interrupted; go on with: streamfold chat --resume')

    const resumed = await command('chat', '--ledger', ledger, '--approve', 'always', '--resume', idOf(stopped))
    expect(resumed.stdout).toContain('The sum is 42.')
    expect(resumed.stdout).not.toContain('executing')
    expect((await onlyExecution(ledger)).attempts).toHaveLength(1)
  },
)

test('a chat that ends by itself does not wait for an input that stays open', async () => {
  const { child, end } = chat(newLedger())
  child.stdin.write('x'.repeat(1024 * 1024 + 1))
  const { code, stderr } = await end
  expect(code).toBe(2)
  expect(stderr).toContain('a line of more than 1048576 characters')
})
