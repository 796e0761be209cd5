import { Writable } from 'node:stream'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  COMPLETED,
  CUT,
  DEGRADED,
  EMPTY,
  HEAD,
  IN_BAND_ERROR,
  recording,
  temporaryFolder,
  TRUNCATED,
} from './bodies.ts'
import { reads, run } from './memory-io.ts'

const write = temporaryFolder()

describe('0 and 1: the verdict', () => {
  test.each([
    { outcome: 'completed', body: COMPLETED, exit: 0, strict: 0 },
    { outcome: 'degraded', body: DEGRADED, exit: 0, strict: 1 },
    { outcome: 'empty', body: EMPTY, exit: 0, strict: 1 },
    { outcome: 'truncated', body: TRUNCATED, exit: 1, strict: 1 },
    { outcome: 'incomplete', body: CUT, exit: 1, strict: 1 },
    { outcome: 'failed', body: IN_BAND_ERROR, exit: 1, strict: 1 },
  ])('$outcome', async ({ outcome, body, exit, strict }) => {
    const file = write(`${outcome}.sse`, body)
    const plain = await run(['inspect', '--json', file])
    expect((JSON.parse(plain.stdout) as { outcome: string }).outcome).toBe(outcome)
    expect(plain.exit).toBe(exit)
    expect((await run(['inspect', '--strict', file])).exit).toBe(strict)
  })

  test('cancelled is not as wanted', async () => {
    expect(
      (await run(['inspect', write('aborted.stream.jsonl', recording(COMPLETED.slice(0, 40), 'aborted'))])).exit,
    ).toBe(1)
  })
})

describe('2: usage', () => {
  const file = write('usage.sse', COMPLETED)
  test.each([
    { name: 'no file', args: ['inspect'], says: /missing required argument 'file'/ },
    { name: 'an unknown command', args: ['inspekt', file], says: /unknown command 'inspekt'/ },
    { name: 'an unknown option', args: ['inspect', '--frobnicate', file], says: /unknown option '--frobnicate'/ },
    {
      name: 'an unknown API, with the known ones',
      args: ['inspect', '--api', 'soap', file],
      says: /'soap' is invalid.*chat_completions/,
    },
    { name: 'an unknown policy', args: ['inspect', '--policy', 'lax', file], says: /'lax' is invalid.*compat, strict/ },
    {
      name: 'a limit that is no number',
      args: ['inspect', '--max-tokens', 'many', file],
      says: /must be an integer from 1/,
    },
    { name: 'no choices at all', args: ['inspect', '--n', '0', file], says: /must be an integer from 1/ },
    { name: 'one document for two files', args: ['inspect', '--json', file, file], says: /use --jsonl/ },
    { name: 'two formats', args: ['inspect', '--json', '--jsonl', file], says: /cannot be used with/ },
    { name: 'standard input twice', args: ['inspect', '-', '-'], says: /only once/ },
  ])('$name', async ({ args, says }) => {
    const { exit, stdout, stderr } = await run(args)
    expect(exit).toBe(2)
    expect(stderr).toMatch(says)
    expect(stdout).toBe('')
  })

  test('a mistake in the command line is told like any other, with an example', async () => {
    for (const args of [['inspekt'], ['inspect'], ['inspect', '--frobnicate', file]]) {
      expect((await run(args)).stderr).toMatch(
        /^streamfold: .*\n(?:.*\n)?for example: streamfold inspect body\.sse.*\n$/,
      )
    }
  })

  test('one of another command points to the help of that command', async () => {
    expect((await run(['export', file])).stderr).toMatch(
      /'--to <format>' not specified\nstreamfold export --help tells more\n$/,
    )
    expect((await run(['ledger', 'list', '--state', 'x'])).stderr).toMatch(
      /\nstreamfold ledger list --help tells more\n$/,
    )
  })

  test('one document for a recording with two exchanges', async () => {
    const { exit, stdout, stderr } = await run([
      'inspect',
      '--json',
      write('two.stream.jsonl', recording(COMPLETED) + recording(CUT)),
    ])
    expect([exit, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/two\.stream\.jsonl holds 2 exchanges.*use --jsonl/)
  })
})

test('help and version are no errors, and go to standard output', async () => {
  for (const args of [['--help'], ['inspect', '--help'], ['help', 'inspect']]) {
    expect(await run(args)).toMatchObject({ exit: 0, stderr: '', stdout: expect.stringContaining('Usage: streamfold') })
  }
  expect(await run(['--version'])).toMatchObject({ exit: 0, stdout: '0.1.0\n' })
})

test.each([
  'inspect',
  'record',
  'import',
  'export',
  'redact',
  'diff',
  'replay',
  'verify',
  'minimize',
  'probe',
  'probe-path',
  'chat',
  'ledger',
  'doctor',
])('the help of %s tells the exit codes', async (command) => {
  expect((await run([command, '--help'])).stdout).toMatch(/\nExit codes: [^]*2 usage/)
})

describe('3: unreadable input, with file and reason', () => {
  test.each([
    {
      name: 'a missing file',
      file: () => '/no/such/file.sse',
      says: /^streamfold: \/no\/such\/file\.sse: no such file\n$/,
    },
    { name: 'a folder', file: () => dirname(write('x', '')), says: /it is a directory/ },
    {
      name: 'a corrupt recording',
      file: () => write('gap.stream.jsonl', `${HEAD}\n{"t":"b","at":1,"off":7,"s":"a"}\n`),
      says: /gap\.stream\.jsonl: line 2: "off" is 7 where 0 is due/,
    },
    {
      name: 'a recording by content, whatever its name',
      file: () => write('gap.txt', `${HEAD}\n{"t":"b"}\n`),
      says: /gap\.txt: line 2: "at" is missing/,
    },
    {
      name: 'a recording that lost its head',
      file: () => write('headless.stream.jsonl', '{"t":"b","at":1,"off":0,"s":"a"}\n'),
      says: /headless\.stream\.jsonl: line 1: no head line/,
    },
    {
      name: 'a newer recording',
      file: () => write('new.stream.jsonl', '{"t":"head","format":"streamfold/recording","v":2}\n'),
      says: /line 1: the recording has version 2/,
    },
    {
      name: 'a recording whose hash does not fit',
      file: () =>
        write(
          'hash.stream.jsonl',
          `${HEAD}\n{"t":"b","at":1,"off":0,"s":"a"}\n{"t":"end","kind":"complete","sha256":"00"}\n`,
        ),
      says: /line 3: "sha256" is 00, that of the reads is ca978112/,
    },
    {
      name: 'a recording with its coding still on',
      file: () => write('gzip.stream.jsonl', '{"t":"head","format":"streamfold/recording","v":1,"body":"encoded"}\n'),
      says: /line 1: the body is recorded with/,
    },
    {
      name: 'broken gzip',
      file: () => write('bad.gz', Uint8Array.of(0x1f, 0x8b, 0xff, 0xff)),
      says: /can't be inflated/,
    },
    {
      name: 'a format that is not read yet',
      file: () => write('m.stream.jsonl', '{"t":"head","format":"streamfold/recording","v":1,"api":"telepathy"}\n'),
      says: /"telepathy", which this version can't read; it reads chat_completions/,
    },
  ])('$name', async ({ file, says }) => {
    const { exit, stdout, stderr } = await run(['inspect', file()])
    expect([exit, stdout]).toEqual([3, ''])
    expect(stderr).toMatch(says)
  })

  test('standard input that breaks', async () => {
    const stdin = (async function* () {
      yield 'data: '
      throw new Error('EIO: i/o error')
    })()
    const { exit, stderr } = await run(['inspect', '-'], { stdin })
    expect([exit, stderr]).toEqual([3, 'streamfold: standard input: EIO: i/o error\n'])
  })

  test('a file name can not write to the terminal', async () => {
    const { stderr } = await run(['inspect', '/no/\u001b[2J\nsuch'])
    expect(stderr).toBe('streamfold: /no/\\u001b[2J\\nsuch: no such file\n')
  })
})

describe('5: a mistake of ours', () => {
  class BrokenStream extends Writable {
    override write(): boolean {
      throw new TypeError('planted')
    }
  }
  const file = write('bug.sse', COMPLETED)

  test('a short message', async () => {
    const { exit, stderr } = await run(['inspect', file], { stdout: new BrokenStream() })
    expect([exit, stderr]).toEqual([5, 'streamfold: internal error: planted; STREAMFOLD_DEBUG=1 shows where\n'])
  })

  test('the stack with STREAMFOLD_DEBUG=1', async () => {
    const { exit, stderr } = await run(['inspect', file], {
      stdout: new BrokenStream(),
      env: { STREAMFOLD_DEBUG: '1' },
    })
    expect(exit).toBe(5)
    expect(stderr).toMatch(/^streamfold: internal error: planted\nTypeError: planted\n\s+at /)
  })
})

test('130: interrupted while waiting for standard input', async () => {
  const interrupt = new AbortController()
  const stdin = (async function* () {
    yield 'data: '
    interrupt.abort()
    await new Promise(() => {})
  })()
  expect(await run(['inspect', '-'], { stdin, signal: interrupt.signal })).toEqual({
    exit: 130,
    stdout: '',
    stderr: '',
  })
})

describe('several files: the worst', () => {
  const good = write('good.sse', COMPLETED)
  const bad = write('bad.sse', CUT)
  test.each([
    { files: [good, good], exit: 0 },
    { files: [good, bad, good], exit: 1 },
    { files: [bad, '/no/such/file', good], exit: 3 },
    { files: ['/no/such/file', bad], exit: 3 },
  ])('%#: $exit', async ({ files, exit }) => {
    expect((await run(['inspect', '--jsonl', ...files])).exit).toBe(exit)
  })

  test('a file that can not be read does not stop the others', async () => {
    const { stdout, stderr } = await run(['inspect', '--jsonl', good, '/no/such/file', '-', bad], {
      stdin: reads(DEGRADED),
    })
    const files = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { source: { file: string } }).source.file)
    expect(files).toEqual([good, '-', bad])
    expect(stderr).toContain('/no/such/file: no such file')
  })
})
