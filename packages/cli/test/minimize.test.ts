import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseRecordings } from '@streamfold/recording'
import { describe, expect, test, vi } from 'vitest'
import { runProgram } from '../src/program.ts'
import { call, delta, sse } from './bodies.ts'
import { memoryIo } from './memory-io.ts'
import { temporarySamples } from './temporary-samples.ts'

vi.setConfig({ testTimeout: 60_000 })

const NOISE = Array.from({ length: 6 }, (_, i) => delta({ content: `word ${i}` }))
const folder = temporarySamples({
  'broken.sse': sse(...NOISE, call(0, 'oops', 'call_1', 'add'), delta({}, 'tool_calls'), '[DONE]'),
})
const file = join(folder, 'broken.sse')

async function run(...args: readonly string[]): Promise<{ exit: number; stdout: string; stderr: string }> {
  const memory = memoryIo({ env: { PATH: process.env['PATH'] ?? '' } })
  const exit = await runProgram(['minimize', ...args], memory.io)
  return { exit, stdout: memory.stdout(), stderr: memory.stderr() }
}

const bodyOf = (text: string): string =>
  parseRecordings(Buffer.from(text))[0]!
    .reads.map(({ bytes }) => new TextDecoder().decode(bytes))
    .join('')

describe('streamfold minimize', () => {
  test('gives the smallest recording that fails like this one', async () => {
    const { exit, stdout, stderr } = await run(file)
    expect(exit).toBe(0)
    expect(bodyOf(stdout)).toBe(sse(call(0, 'oops', 'call_1', 'add'), delta({}, 'tool_calls'), '[DONE]'))
    expect(stderr).toMatch(/^9 events \(\d+ bytes\) became 3 \(\d+ bytes\) in \d+ tries\n$/)
  })

  test('into a file for its owner, which it does not overwrite unasked', async () => {
    const output = join(folder, 'small.stream.jsonl')
    expect(await run(file, '-o', output, '--json')).toMatchObject({ exit: 0, stderr: '' })
    expect(statSync(output).mode & 0o077).toBe(0)
    const again = await run(file, '-o', output)
    expect([again.exit, again.stderr]).toEqual([2, `streamfold: ${output}: it exists; --force overwrites it\n`])
    expect((await run(file, '-o', output, '--force', '--keep', 'outcome')).exit).toBe(0)
    expect(bodyOf(readFileSync(output, 'utf8')).length).toBeLessThan(400)
  })

  test('asks a command, which fails as long as the fault is there', async () => {
    // grep fails, with 1, when it does not find what is looked for: turned round by sh.
    const { exit, stdout } = await run(file, '--', 'sh', '-c', '! grep -q "word 3" "$0"')
    expect(exit).toBe(0)
    expect(bodyOf(stdout)).toBe(sse(NOISE[3]!))
  })

  test.each<{ name: string; args: readonly string[]; exit: number; says: RegExp }>([
    { name: 'a recording that does not fail', args: [file, '--', 'true'], exit: 1, says: /does not fail in the way/ },
    {
      name: 'an unknown word',
      args: [file, '--keep', 'mood'],
      exit: 2,
      says: /"mood" can't be kept; known are outcome/,
    },
    {
      name: 'a command that is not there',
      args: [file, '--', '/no/such/command'],
      exit: 2,
      says: /\/no\/such\/command can't be run/,
    },
    { name: 'a file that is not there', args: ['/no/such/file'], exit: 3, says: /no such file/ },
  ])('$name: $exit', async ({ args, exit, says }) => {
    const result = await run(...args)
    expect([result.exit, result.stdout]).toEqual([exit, ''])
    expect(result.stderr).toMatch(says)
    expect(existsSync('/no/such/file')).toBe(false)
  })
})
