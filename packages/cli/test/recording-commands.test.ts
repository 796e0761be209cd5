import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { COMPLETED, CUT, delta, HEAD, recording, sse, temporaryFolder, WITH_CALL } from './bodies.ts'
import { reads, run } from './memory-io.ts'

const write = temporaryFolder()
const folder = mkdtempSync(join(tmpdir(), 'streamfold-commands-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const KEY = ['sk', 'proj', 'T0pSecret4bcdefgh1jklmnop'].join('-')
const STARS = '*'.repeat(KEY.length)

describe('import', () => {
  test('a bare body, from standard input to standard output, redacted', async () => {
    const { exit, stdout, stderr } = await run(['import', '-'], { stdin: reads(`data: "${KEY}"\n\n`) })
    expect([exit, stderr]).toEqual([0, 'streamfold: standard input: 1 exchange from body\n'])
    expect(stdout).toContain(`data: \\"${STARS}\\"`)
    expect(stdout.split('\n')[0]).toContain('"redaction":{"policy":"default@1","applied":true}')
  })

  test('to a file for its owner only, never over another unless told so', async () => {
    const file = join(folder, 'imported.stream.jsonl.gz')
    const body = write('body.sse', COMPLETED)
    expect((await run(['import', body, '-o', file])).exit).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(gunzipSync(readFileSync(file)).toString()).toContain('"t":"end"')
    expect(await run(['import', body, '-o', file])).toMatchObject({
      exit: 2,
      stderr: `streamfold: ${file}: the file exists; --force writes over it\n`,
    })
    expect((await run(['import', body, '-o', file, '--force'])).exit).toBe(0)
    // And inspect reads it, compressed as it is.
    expect((await run(['inspect', '--json', file])).exit).toBe(0)
  })

  test('secrets stay only when asked, and it is said', async () => {
    const { stdout, stderr } = await run(['import', '--no-redact', '-'], { stdin: reads(`data: "${KEY}"\n\n`) })
    expect(stdout).toContain(KEY)
    expect(stderr).toContain(', not redacted')
  })

  test('what else is to be masked', async () => {
    const args = ['import', '-', '--email', '--field', 'ssn', '--pattern', 'x+y', '--secret-env', 'MINE']
    const stdin = reads('data: {"a":"a@mail.example","ssn":"123-45-6789","b":"xxy","c":"hunter22"}\n\n')
    const { stdout } = await run(args, { stdin, env: { MINE: 'hunter22' } })
    expect(stdout).toContain(
      String.raw`{\"a\":\"**************\",\"ssn\":\"***********\",\"b\":\"***\",\"c\":\"********\"}`,
    )
  })

  test.each([
    {
      name: 'a trace that is none',
      file: () => write('t.txt', 'hello\n'),
      args: ['--from', 'curl-trace'],
      exit: 3,
      says: /t\.txt: line 1: no entry of a curl trace/,
    },
    {
      name: 'a HAR that is cut',
      file: () => write('h.har', '{"log":{\n"entries":['),
      args: [],
      exit: 3,
      says: /h\.har: line 2: not JSON/,
    },
    { name: 'a missing file', file: () => '/no/such/file', args: [], exit: 3, says: /no such file/ },
    {
      name: 'a format that is not known',
      file: () => write('x', 'x'),
      args: ['--from', 'pcap'],
      exit: 2,
      says: /'pcap' is invalid.*curl-trace/,
    },
    {
      name: 'a pattern that is none',
      file: () => write('x', 'x'),
      args: ['--pattern', '('],
      exit: 2,
      says: /--pattern: Invalid regular expression/,
    },
    {
      name: 'a secret that is not there',
      file: () => write('x', 'x'),
      args: ['--secret-env', 'NOPE'],
      exit: 2,
      says: /NOPE of --secret-env is not set/,
    },
    {
      name: 'an entry that is no number',
      file: () => write('x', 'x'),
      args: ['--entry', 'a'],
      exit: 2,
      says: /integer from 0/,
    },
  ])('$name', async ({ file, args, exit, says }) => {
    const result = await run(['import', file(), ...args])
    expect([result.exit, result.stdout]).toEqual([exit, ''])
    expect(result.stderr).toMatch(says)
  })
})

describe('export', () => {
  const file = write('one.stream.jsonl', recording(WITH_CALL))
  const two = write('two.stream.jsonl', recording(COMPLETED) + recording(CUT))

  test.each([
    { to: 'sse', says: (text: string) => expect(text).toBe(WITH_CALL) },
    {
      to: 'har',
      says: (text: string) => expect((JSON.parse(text) as { log: { entries: unknown[] } }).log.entries).toHaveLength(1),
    },
    { to: 'html', says: (text: string) => expect(text).toMatch(/^<!doctype html>[^]*<h1>completed<\/h1>/) },
    { to: 'vitest', says: (text: string) => expect(text).toContain("expect(outcome).toBe('completed')") },
  ])('--to $to', async ({ to, says }) => {
    const { exit, stdout, stderr } = await run(['export', file, '--to', to])
    expect([exit, stderr]).toEqual([0, ''])
    says(stdout)
  })

  test('what it makes comes back', async () => {
    const har = join(folder, 'one.har')
    expect((await run(['export', file, '--to', 'har', '-o', har])).exit).toBe(0)
    const { stdout } = await run(['import', '--no-redact', har])
    const back = write('back.stream.jsonl', stdout)
    expect(await run(['diff', back, file])).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^ok the same bytes/) as string,
    })
  })

  test('one exchange of several', async () => {
    expect(await run(['export', two, '--to', 'sse'])).toMatchObject({
      exit: 2,
      stdout: '',
      stderr: expect.stringMatching(/holds 2 exchanges; choose one with --exchange N/) as string,
    })
    expect((await run(['export', two, '--to', 'sse', '--exchange', '2'])).stdout).toBe(CUT)
    expect((await run(['export', two, '--to', 'sse', '--exchange', '3'])).exit).toBe(2)
    expect(
      (JSON.parse((await run(['export', two, '--to', 'har'])).stdout) as { log: { entries: unknown[] } }).log.entries,
    ).toHaveLength(2)
  })

  test('no format, an unknown one, a corrupt recording', async () => {
    expect((await run(['export', file])).exit).toBe(2)
    expect((await run(['export', file, '--to', 'pdf'])).exit).toBe(2)
    const gap = write('gap.stream.jsonl', `${HEAD}\n{"t":"b","at":1,"off":7,"s":"a"}\n`)
    expect(await run(['export', gap, '--to', 'sse'])).toMatchObject({
      exit: 3,
      stderr: expect.stringMatching(/line 2: "off" is 7/) as string,
    })
  })
})

describe('redact', () => {
  const dirty = recording(`data: {"a":"${KEY}"}\n\n`)

  test('to standard output', async () => {
    const { exit, stdout } = await run(['redact', write('dirty.stream.jsonl', dirty)])
    expect(exit).toBe(0)
    expect(stdout).toContain(STARS)
    expect(stdout).not.toContain(KEY)
    expect(stdout).toContain('"redactions":[{"off":12,')
  })

  test('--check says where, and never what', async () => {
    const file = write('check.stream.jsonl', dirty)
    const { exit, stdout } = await run(['redact', '--check', file])
    expect(exit).toBe(1)
    expect(stdout).toMatch(
      /check\.stream\.jsonl: line \d+: body at byte 12: api-key, \d+ bytes\n1 secret found; streamfold redact masks them\n$/,
    )
    expect(stdout).not.toContain(KEY)
    const json = JSON.parse((await run(['redact', '--check', '--json', file])).stdout) as {
      schema: string
      files: { findings: unknown[] }[]
    }
    expect([json.schema, json.files[0]!.findings.length]).toEqual(['streamfold/secrets@1', 1])
  })

  test('--in-place, compressed or not; then --check is content', async () => {
    const plain = write('place.stream.jsonl', dirty)
    const zipped = write('place.stream.jsonl.gz', gzipSync(dirty))
    expect((await run(['redact', '--in-place', plain, zipped])).exit).toBe(0)
    expect(statSync(plain).mode & 0o777).toBe(0o600)
    expect(gunzipSync(readFileSync(zipped)).toString()).toContain(STARS)
    expect(await run(['redact', '--check', plain, zipped])).toMatchObject({ exit: 0, stdout: 'no secrets found\n' })
  })

  test.each([
    { args: ['--check', '--in-place'], says: /--check writes nothing/ },
    { args: ['--json'], says: /--json goes with --check/ },
    { args: ['--in-place', '-o', 'x'], says: /exclude each other/ },
    { args: ['another'], says: /several files need/ },
  ])('$args', async ({ args, says }) => {
    const result = await run(['redact', write('m.stream.jsonl', dirty), ...args])
    expect([result.exit, result.stdout]).toEqual([2, ''])
    expect(result.stderr).toMatch(says)
  })

  test('a secret that is spelled over events can not be masked, and that is said', async () => {
    const spelled = Array.from({ length: 7 }, (_, at) => delta({ content: KEY.slice(at * 5, at * 5 + 5) }))
    const file = write('spelled.stream.jsonl', recording(sse(...spelled, delta({}, 'stop'), '[DONE]')))
    const redacted = await run(['redact', file])
    expect(redacted.exit).toBe(1)
    expect(redacted.stderr).toMatch(
      /spelled\.stream\.jsonl: 1 secret is spelled over several events and not masked; don't share it\n$/,
    )
    const checked = await run(['redact', '--check', file])
    expect([checked.exit, checked.stdout]).toEqual([
      1,
      expect.stringMatching(/: line 1: events, choice 0: text: api-key, \d+ bytes\n/),
    ])
  })

  test('standard input can not be written back', async () => {
    expect((await run(['redact', '--in-place', '-'])).exit).toBe(2)
  })
})

describe('diff', () => {
  const upstream = write('upstream.stream.jsonl', recording(WITH_CALL))

  test('the same', async () => {
    expect(await run(['diff', upstream, upstream])).toMatchObject({
      exit: 0,
      stderr: '',
      stdout: expect.stringMatching(/^ok the same bytes between .*\n {2}times: pass_through/) as string,
    })
  })

  test('what a hop did, in words', async () => {
    const entry = write('entry.stream.jsonl', recording(WITH_CALL.replaceAll('\n', '\r\n')))
    const { exit, stdout } = await run(['diff', entry, upstream])
    expect(exit).toBe(1)
    expect(stdout).toMatch(
      /^FAIL different bytes, the same calls and outcome \(completed\) between .*entry\.stream\.jsonl \(entry\)/,
    )
    expect(stdout).toContain('  line_ends_rewritten: line ends were rewritten: LF became CRLF\n')
  })

  test('two hops, as one document', async () => {
    const cut = write('cut.sse', WITH_CALL.replace('data: [DONE]\n\n', ''))
    const document = JSON.parse((await run(['diff', '--json', cut, upstream, upstream])).stdout) as {
      schema: string
      hops: { same: boolean; changes: { code: string }[] }[]
    }
    expect(document.schema).toBe('streamfold/diff@1')
    expect(document.hops.map(({ same }) => same)).toEqual([false, true])
    expect(document.hops[0]!.changes[0]!.code).toBe('truncated')
  })

  test('what can not be compared', async () => {
    expect((await run(['diff', upstream])).exit).toBe(2)
    expect((await run(['diff', '-', '-'])).exit).toBe(2)
    expect((await run(['diff', upstream, '/no/such/file'])).exit).toBe(3)
    const two = write('two.jsonl', recording(COMPLETED) + recording(CUT))
    expect((await run(['diff', upstream, two])).exit).toBe(2)
  })

  test('wire content can not write to the terminal', async () => {
    const nasty = write('nasty.sse', 'data: \u001b[2J\n\n')
    expect((await run(['diff', nasty, upstream])).stdout).not.toContain('\u001b')
  })
})

test('nothing was left beside the files that were asked for', () => {
  expect(readdirSync(folder).toSorted()).toEqual(['imported.stream.jsonl.gz', 'one.har'])
})
