import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseRecordings } from '@streamfold/recording'
import { describe, expect, test, vi } from 'vitest'
import { call, delta, sse } from './bodies.ts'
import { run } from './memory-io.ts'
import type { Ran } from './memory-io.ts'
import { temporarySamples } from './temporary-samples.ts'

vi.setConfig({ testTimeout: 60_000 })

const NOISE = Array.from({ length: 6 }, (_, i) => delta({ content: `word ${i}` }))
const folder = temporarySamples({
  'broken.sse': sse(...NOISE, call(0, 'oops', 'call_1', 'add'), delta({}, 'tool_calls'), '[DONE]'),
  'single.sse': 'data: hello\n\n',
  'empty.sse': '',
  'empty.stream.jsonl': '',
})
const file = join(folder, 'broken.sse')
const single = join(folder, 'single.sse')

const minimized = (...args: readonly string[]): Promise<Ran> =>
  run(['minimize', ...args], { env: { PATH: process.env['PATH'] ?? '' } })

const bodyOf = (text: string): string =>
  parseRecordings(Buffer.from(text))[0]!
    .reads.map(({ bytes }) => new TextDecoder().decode(bytes))
    .join('')

describe('streamfold minimize', () => {
  test('gives the smallest recording that fails like this one', async () => {
    const { exit, stdout, stderr } = await minimized(file)
    expect(exit).toBe(0)
    expect(bodyOf(stdout)).toBe(sse(call(0, 'oops', 'call_1', 'add'), delta({}, 'tool_calls'), '[DONE]'))
    expect(stderr).toMatch(/^9 events \(\d+ bytes\) became 3 \(\d+ bytes\) in \d+ tries\n$/)
  })

  test('counts one as one', async () => {
    const { exit, stderr } = await minimized(single)
    expect([exit, stderr]).toEqual([0, '1 event (13 bytes) became 1 (13 bytes) in 2 tries\n'])
  })

  test('into a file for its owner, which it does not overwrite unasked', async () => {
    const output = join(folder, 'small.stream.jsonl')
    expect(await minimized(file, '-o', output, '--json')).toMatchObject({ exit: 0, stderr: '' })
    expect(statSync(output).mode & 0o077).toBe(0)
    const again = await minimized(file, '-o', output)
    expect([again.exit, again.stderr]).toEqual([2, `streamfold: ${output}: it exists; --force overwrites it\n`])
    expect((await minimized(file, '-o', output, '--force', '--keep', 'outcome')).exit).toBe(0)
    expect(bodyOf(readFileSync(output, 'utf8')).length).toBeLessThan(400)
  })

  test('asks a command, which fails as long as the fault is there', async () => {
    // grep fails, with 1, when it does not find what is looked for: turned round by sh.
    const { exit, stdout } = await minimized(file, '--', 'sh', '-c', '! grep -q "word 3" "$0"')
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
    {
      name: 'a file that is not there',
      args: ['/no/such/file'],
      exit: 3,
      says: /^streamfold: \/no\/such\/file: no such file\n$/,
    },
    {
      name: 'an empty body',
      args: [join(folder, 'empty.sse')],
      exit: 3,
      says: /empty\.sse: its body is empty: there is no event to leave out\n$/,
    },
    {
      name: 'an empty recording',
      args: [join(folder, 'empty.stream.jsonl')],
      exit: 3,
      says: /empty\.stream\.jsonl: line 1: the file is empty; a recording begins with a head line\n$/,
    },
    { name: 'a folder', args: [folder], exit: 3, says: /: it is a directory; name the files in it\n$/ },
  ])('$name: $exit', async ({ args, exit, says }) => {
    const result = await minimized(...args)
    expect([result.exit, result.stdout]).toEqual([exit, ''])
    expect(result.stderr).toMatch(says)
    expect(existsSync('/no/such/file')).toBe(false)
  })
})
