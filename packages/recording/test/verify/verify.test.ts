import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formatRecordings } from '../../src/file/recording-file.ts'
import { ReplaySyntaxError } from '../../src/replay/replay-syntax-error.ts'
import type { ExpectedFile } from '../../src/verify/expected-file.ts'
import { junitOf } from '../../src/verify/junit.ts'
import { SampleError } from '../../src/verify/sample-error.ts'
import { verify } from '../../src/verify/verify.ts'
import type { VerifyProgress } from '../../src/verify/verify.ts'
import { call, delta, recordingOf, sse, TWO_CALLS } from '../wire.ts'
import { temporaryFolder } from './temporary-folder.ts'
import type { TemporaryFolder } from './temporary-folder.ts'

const QUICK = { plans: 'byte,random:2', faults: 'none' } as const

async function accepted(): Promise<TemporaryFolder> {
  const folder = temporaryFolder()
  folder.write('calls/two.sse', TWO_CALLS)
  folder.write('steady.stream.jsonl', formatRecordings([recordingOf([TWO_CALLS.slice(0, 300), TWO_CALLS.slice(300)])]))
  await verify([folder.path], { ...QUICK, update: true })
  return folder
}

/** Changes what is expected, as an upgrade would change what comes. */
function edit(
  folder: TemporaryFolder,
  change: (file: { events: Record<string, unknown>[]; report: Record<string, unknown> }) => void,
): void {
  const file = JSON.parse(folder.read('calls/two.expected.json')) as Parameters<typeof change>[0]
  change(file)
  folder.write('calls/two.expected.json', JSON.stringify(file))
}

describe('expectations', () => {
  test('are written by --update, for a person to review, and hold from then on', async () => {
    const folder = temporaryFolder()
    folder.write('calls/two.sse', TWO_CALLS)
    const before = await verify([folder.path], QUICK)
    expect(before).toMatchObject({ ok: true, totals: { samples: 1, failed: 0, unexpected: 1 }, written: [] })
    const update = await verify([folder.path], { ...QUICK, update: true })
    expect(update.written).toEqual([join(folder.path, 'calls/two.expected.json')])
    const expected = JSON.parse(folder.read('calls/two.expected.json')) as ExpectedFile
    expect(expected.report).toMatchObject({ schema: 'streamfold/report@1', outcome: 'completed' })
    expect(expected.report).not.toHaveProperty('timing')
    const after = await verify([folder.path], QUICK)
    // Whole, byte by byte, and two random plans.
    expect(after).toMatchObject({ ok: true, totals: { samples: 1, failed: 0, unexpected: 0, checks: 4 } })
    expect((await verify([folder.path], { ...QUICK, update: true })).written).toEqual([])
  })

  test('of a recording have its times', async () => {
    const folder = await accepted()
    expect(JSON.parse(folder.read('steady.expected.json'))).toMatchObject({
      report: { timing: { timeToHeadersMs: 100 } },
    })
  })

  test('keep what else is in their file', async () => {
    const folder = await accepted()
    const file = JSON.parse(folder.read('calls/two.expected.json')) as ExpectedFile
    folder.write('calls/two.expected.json', JSON.stringify({ about: 'two calls', ...file, events: [] }))
    await verify([folder.path], { ...QUICK, update: true })
    expect(JSON.parse(folder.read('calls/two.expected.json'))).toEqual({ about: 'two calls', ...file })
  })

  test.each<{ name: string; change: Parameters<typeof edit>[1]; path: RegExp; message: RegExp }>([
    {
      name: 'an event fewer',
      change: ({ events }) => events.pop(),
      path: /^events\[\d+\]$/,
      message: /an event more than expected/,
    },
    {
      name: 'an event more',
      change: ({ events }) => events.push({ type: 'usage' }),
      path: /^events\[\d+\]$/,
      message: /an event is missing/,
    },
    {
      name: 'another order',
      change: ({ events }) => events.reverse(),
      path: /^events\[0\]/,
      message: /order of events/,
    },
    {
      name: 'another outcome',
      change: ({ report }) => (report['outcome'] = 'degraded'),
      path: /^report\.outcome$/,
      message: /report\.outcome is not as expected/,
    },
    {
      name: 'another phase',
      change: ({ report }) => ((report['choices'] as Record<string, unknown>[])[0]!['phase'] = 'held'),
      path: /^report\.choices\[0\]\.phase$/,
      message: /phase is not as expected/,
    },
    {
      name: 'another code',
      change: ({ report }) =>
        ((report['choices'] as { toolCalls: Record<string, unknown>[] }[])[0]!.toolCalls[1]!['code'] = 'batch_held'),
      path: /toolCalls\[1\]\.code$/,
      message: /code is not as expected/,
    },
  ])('$name fails until it is accepted', async ({ change, path, message }) => {
    const folder = await accepted()
    edit(folder, change)
    const document = await verify([folder.path], QUICK)
    expect(document).toMatchObject({ ok: false, totals: { failed: 1 } })
    const [failure] = document.samples.find(({ name }) => name === 'calls/two')!.failures
    expect(failure).toMatchObject({ kind: 'result' })
    expect(failure!.message).toMatch(message)
    expect(failure!.difference!.path).toMatch(path)
    expect((await verify([folder.path], { ...QUICK, update: true })).ok).toBe(true)
    expect((await verify([folder.path], QUICK)).ok).toBe(true)
  })

  test('wording is no promise', async () => {
    const folder = temporaryFolder()
    folder.write('cut.sse', TWO_CALLS.slice(0, 400))
    await verify([folder.path], { ...QUICK, update: true })
    const text = folder.read('cut.expected.json')
    expect(text).toContain('"message"')
    folder.write('cut.expected.json', text.replaceAll(/"message":\s?"[^"]*"/g, '"message":"other words"'))
    expect((await verify([folder.path], QUICK)).ok).toBe(true)
  })

  test('the options of a sample are those of its file', async () => {
    const folder = temporaryFolder()
    folder.write('s.sse', sse(delta({ content: 'x' }), delta({}, 'stop')))
    folder.write('s.expected.json', JSON.stringify({ options: { policy: 'strict' }, request: { n: 1 } }))
    await verify([folder.path], { ...QUICK, update: true })
    expect(JSON.parse(folder.read('s.expected.json'))).toMatchObject({ report: { outcome: 'incomplete' } })
  })
})

describe('faults', () => {
  test('are pinned with their exact end, by --update', async () => {
    const folder = await accepted()
    const faults = 'cut:rst@call:0.1;status:429;crlf'
    const update = await verify([folder.path], { ...QUICK, faults, update: true })
    expect(update.written).toEqual([join(folder.path, 'faults.accepted.json')])
    const document = JSON.parse(folder.read('faults.accepted.json')) as { samples: Record<string, unknown> }
    expect(document.samples['calls/two']).toEqual({
      'incomplete incomplete_stream; 0.0 failed incomplete_stream; 0.1 failed incomplete_stream': ['cut:rst@call:0.1'],
      'failed rate_limited': ['status:429'],
      'completed; 0.0 released; 0.1 released': ['crlf'],
    })
    // The file of accepted ends is no sample itself.
    expect(await verify([folder.path], { ...QUICK, faults })).toMatchObject({ ok: true, totals: { samples: 2 } })
    folder.write('faults.accepted.json', folder.read('faults.accepted.json').replaceAll('rate_limited', 'http_error'))
    const changed = await verify([folder.path], { ...QUICK, faults })
    expect(changed.ok).toBe(false)
    expect(changed.samples[0]!.failures).toEqual([
      {
        kind: 'fate',
        fault: 'status:429',
        message: 'another end under this fault than was accepted',
        difference: { path: 'fate', expected: 'failed http_error', actual: 'failed rate_limited' },
      },
    ])
  })

  test('that leave no trace are counted, and fail nothing', async () => {
    const folder = temporaryFolder()
    // Without this digit the arguments are as good as with it.
    folder.write(
      'one.sse',
      sse(call(0, '{"a":1', 'call_1', 'add'), call(0, '2'), call(0, '}'), delta({}, 'tool_calls'), '[DONE]'),
    )
    const document = await verify([folder.path], { plans: 'byte', faults: 'drop-event@event:2;dup-event@event:2' })
    expect(document).toMatchObject({ ok: true, totals: { untold: 2 } })
  })

  test('that have no place in a sample are counted', async () => {
    const folder = temporaryFolder()
    folder.write('text.sse', sse(delta({ content: 'x' }), delta({}, 'stop'), '[DONE]'))
    const document = await verify([folder.path], { plans: 'byte', faults: 'cut@call:0.0;crlf' })
    expect(document.totals.missed).toBe(1)
    expect(document.samples[0]!.missed).toEqual(['cut@call:0.0: the stream has no fragment 0 of call 0'])
  })
})

test.each([
  { name: 'curl.txt', content: `HTTP/1.1 200 OK\r\n\r\n${TWO_CALLS}`, says: 'it is output of curl -i, no body' },
  { name: 'saved.json', content: '{"log":{"entries":[]}}', says: 'it is a HAR file, no body' },
])('$name is no sample: it is to be imported', async ({ name, content, says }) => {
  const folder = temporaryFolder()
  folder.write(name, content)
  const file = join(folder.path, name)
  await expect(verify([folder.path], QUICK)).rejects.toThrow(
    `${file}: ${says}; streamfold import makes a recording of it`,
  )
})

describe('the document', () => {
  test('as JUnit', async () => {
    const folder = await accepted()
    folder.write('new.sse', sse('[DONE]'))
    edit(folder, ({ report }) => (report['outcome'] = '<degraded> & "odd"\u0000'))
    const xml = junitOf(await verify([folder.path], QUICK))
    expect(xml).toContain('<testsuites tests="3" failures="1" skipped="1">')
    expect(xml).toContain('<testcase classname="streamfold verify" name="steady"/>')
    expect(xml).toContain('<failure type="result" message="report.outcome is not as expected">')
    expect(xml).toContain('expected &quot;&lt;degraded&gt; &amp; \\&quot;odd\\&quot;\\u0000&quot;')
    expect(xml).toContain('<skipped message="no expected file yet"/>')
  })

  test('progress goes from one sample to the last', async () => {
    const folder = await accepted()
    const seen: VerifyProgress[] = []
    await verify([folder.path], { ...QUICK, onProgress: (progress) => seen.push(progress) })
    expect(seen.map(({ done, total, failed }) => [done, total, failed])).toEqual([
      [1, 2, 0],
      [2, 2, 0],
    ])
  })

  test('an interrupt ends it', async () => {
    const folder = await accepted()
    const abort = new AbortController()
    abort.abort(new Error('enough'))
    await expect(verify([folder.path], { ...QUICK, signal: abort.signal })).rejects.toThrow('enough')
  })

  test('--save keeps nothing where nothing fails', async () => {
    const folder = await accepted()
    await verify([folder.path], { ...QUICK, save: join(folder.path, 'failing') })
    expect(existsSync(join(folder.path, 'failing'))).toBe(false)
    expect(readdirSync(folder.path)).not.toContain('failing')
  })
})

describe('what can not be verified', () => {
  test.each<{ name: string; file: string; text: string; says: RegExp }>([
    { name: 'a corrupt recording', file: 'a.stream.jsonl', text: '{"t":"head"}\n', says: /a\.stream\.jsonl: line 1/ },
    { name: 'a corrupt expected file', file: 'b.expected.json', text: '{', says: /b\.expected\.json/ },
    {
      name: 'a corrupt file of ends',
      file: 'faults.accepted.json',
      text: '{}',
      says: /faults\.accepted\.json: it is no streamfold\/fates@1/,
    },
  ])('$name', async ({ file, text, says }) => {
    const folder = temporaryFolder()
    folder.write('b.sse', TWO_CALLS)
    folder.write(file, text)
    await expect(verify([folder.path], QUICK)).rejects.toThrow(SampleError)
    await expect(verify([folder.path], QUICK)).rejects.toThrow(says)
  })

  test('no such folder, no such plan, no such fault', async () => {
    await expect(verify(['/no/such/folder'])).rejects.toThrow(/no such file or folder/)
    const folder = await accepted()
    await expect(verify([folder.path], { plans: 'every-bit' })).rejects.toThrow(ReplaySyntaxError)
    await expect(verify([folder.path], { plans: 'random:3..2' })).rejects.toThrow(ReplaySyntaxError)
    await expect(verify([folder.path], { faults: 'flood' })).rejects.toThrow(ReplaySyntaxError)
    // It never strikes, so only a look at it beforehand finds it.
    await expect(verify([folder.path], { faults: 'html:x@p:0' })).rejects.toThrow(ReplaySyntaxError)
  })
})
