import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { VerifyDocument } from '@streamfold/recording'
import { describe, expect, test, vi } from 'vitest'
import { COMPLETED, WITH_CALL } from './bodies.ts'
import { COMMAND, finished, start } from './built-command.ts'
import { run } from './memory-io.ts'
import type { MemoryIoOptions, Ran } from './memory-io.ts'
import { temporarySamples } from './temporary-samples.ts'

vi.setConfig({ testTimeout: 60_000 })

// One thread: sources have no worker file to load.
const verify = (args: readonly string[], options: MemoryIoOptions = {}): Promise<Ran> =>
  run(['verify', '--workers', '1', ...args], options)

const QUICK = ['--plans', 'byte,random:2', '--faults', 'crlf;cut:rst@call:0.1']

describe('streamfold verify', () => {
  const folder = temporarySamples({ 'call.sse': WITH_CALL, 'text/plain.sse': COMPLETED })
  const expected = join(folder, 'call.expected.json')
  const empty = temporarySamples({ 'readme.md': '# none' })

  test('tells of samples without an expected file, writes them, and is content from then on', async () => {
    const before = await verify([...QUICK, folder])
    expect(before).toMatchObject({ exit: 0, stderr: '' })
    expect(before.stdout).toMatch(/^ok 2 samples, \d+ checks, 0 failed\n! 2 samples have no expected file yet/)
    const update = await verify([...QUICK, '--update', folder])
    expect(update.stdout).toContain(`written, for you to review: ${expected}`)
    expect((await verify([...QUICK, folder])).stdout).toMatch(/^ok 2 samples, \d+ checks, 0 failed\n/)
  })

  test('counts one as one', async () => {
    const one = temporarySamples({ 'call.sse': WITH_CALL })
    const { stdout } = await verify(['--plans', 'whole', '--faults', 'none', one])
    expect(stdout).toBe(
      'ok 1 sample, 2 checks, 0 failed\n! 1 sample has no expected file yet: only cuts and faults were compared; --update writes it, for you to review\n',
    )
  })

  test('exit 1 for a change, with what changed', async () => {
    const good = readFileSync(expected, 'utf8')
    writeFileSync(expected, good.replace('"outcome": "completed"', '"outcome": "degraded"'))
    const { exit, stdout } = await verify([...QUICK, folder])
    expect(exit).toBe(1)
    expect(stdout).toMatch(
      /^FAIL call\n {2}report\.outcome is not as expected\n {2}at report\.outcome\n {4}expected "degraded"\n {4}actual {3}"completed"\n/,
    )
    expect(stdout).toMatch(/FAIL 2 samples, \d+ checks, 1 failed\n/)
    writeFileSync(expected, good)
  })

  test('--json and --junit', async () => {
    const junit = join(folder, 'junit.xml')
    const { exit, stdout } = await verify([...QUICK, '--json', '--junit', junit, folder])
    const document = JSON.parse(stdout) as VerifyDocument
    expect([exit, document.schema, document.ok, document.samples.map(({ name }) => name)]).toEqual([
      0,
      'streamfold/verify@1',
      true,
      ['call', 'text/plain'],
    ])
    expect(readFileSync(junit, 'utf8')).toContain('<testsuites tests="2" failures="0" skipped="0">')
  })

  test('a JUnit file that can not be written does not take the result along', async () => {
    const junit = join(folder, 'nowhere', 'junit.xml')
    const { exit, stdout, stderr } = await verify([...QUICK, '--junit', junit, folder])
    expect(exit).toBe(2)
    expect(stdout).toMatch(/^ok 2 samples, /)
    expect(stderr).toMatch(/^streamfold: .*junit\.xml was not written: ENOENT/)
  })

  test.each<{ name: string; args: readonly string[]; exit: number; says: RegExp }>([
    { name: 'no path', args: [], exit: 2, says: /missing required argument/ },
    { name: 'an unknown plan', args: ['--plans', 'bite', folder], exit: 2, says: /"bite" is no plan/ },
    { name: 'an unknown fault', args: ['--faults', 'flood', folder], exit: 2, says: /"flood" is no fault/ },
    {
      name: 'an unknown fault, with threads',
      args: ['--workers', '2', '--faults', 'flood', folder],
      exit: 2,
      says: /^streamfold: "flood" is no fault/,
    },
    {
      name: 'an unknown argument of a fault that seldom happens, with threads',
      args: ['--workers', '2', '--faults', 'crlf;html:x@p:0', folder],
      exit: 2,
      says: /^streamfold: "x" is no HTTP status/,
    },
    { name: 'no workers', args: ['--workers', '0', folder], exit: 2, says: /must be an integer from 1/ },
    { name: 'no such folder', args: ['/no/such/folder'], exit: 3, says: /\/no\/such\/folder: no such file or folder/ },
    { name: 'a folder without samples', args: [empty], exit: 3, says: /: no sample is in there\n$/ },
  ])('$name: $exit', async ({ args, exit, says }) => {
    const result = await verify(args)
    expect([result.exit, result.stdout]).toEqual([exit, ''])
    expect(result.stderr).toMatch(says)
  })

  test('interrupted: 130', async () => {
    const abort = new AbortController()
    abort.abort()
    expect((await verify([folder], { signal: abort.signal })).exit).toBe(130)
  })

  test('on several threads the result is the same', async () => {
    const args = ['verify', ...QUICK, '--json', '--workers', '2', folder]
    const threads = await finished(start(COMMAND, args))
    expect(threads).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(threads.stdout)).toEqual(JSON.parse((await verify([...QUICK, '--json', folder])).stdout))
  })
})
