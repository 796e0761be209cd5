import { describe, expect, test } from 'vitest'
import { releaseChecklist } from '../../src/checklist/checklist.ts'
import type { ChecklistAnswer, ChecklistDocument } from '../../src/checklist/checklist.ts'
import { QUESTIONS } from '../../src/checklist/questions.ts'
import { formatRecordings } from '../../src/file/recording-file.ts'
import { SampleError } from '../../src/verify/sample-error.ts'
import { verify } from '../../src/verify/verify.ts'
import { temporaryFolder } from '../verify/temporary-folder.ts'
import type { TemporaryFolder } from '../verify/temporary-folder.ts'
import { call, delta, recordingOf, sse, TWO_CALLS } from '../wire.ts'

const TWO_CHOICES = sse(
  { id: 'c', model: 'm', choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] },
  { id: 'c', model: 'm', choices: [{ index: 1, delta: { content: 'b' }, finish_reason: null }] },
  { id: 'c', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { id: 'c', model: 'm', choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] },
  '[DONE]',
)
const BROKEN = sse(call(0, '{"a":]', 'call_a', 'add'), delta({}, 'tool_calls'), '[DONE]')
const CUT = sse(delta({ content: 'Hi' }), call(0, '{"a"', 'call_a', 'add'))
const LEDGER = `SQLite format 3\0…create table streamfold_call(…create table streamfold_execution(…create table streamfold_audit(`

function answer(document: ChecklistDocument, id: string): ChecklistAnswer {
  return document.answers.find((one) => one.id === id)!
}

function states(document: ChecklistDocument): Readonly<Record<string, string>> {
  return Object.fromEntries(document.answers.map(({ id, state }) => [id, state]))
}

async function verified(folder: TemporaryFolder, plans = 'every-byte'): Promise<void> {
  await verify([folder.path], { plans: 'event', faults: 'none', update: true })
  folder.write('evidence/verify.json', JSON.stringify(await verify([folder.path], { plans, faults: 'none' })))
}

function path(idleMs: number, verdict: string, eventsReceived = 41): string {
  const schedule = { events: 40, intervalMs: 100, sizes: [20], idleMs }
  const numbers = { status: 200, eventsSent: 41, eventsReceived }
  return JSON.stringify({
    schema: 'streamfold/path@1',
    url: 'http://127.0.0.1:8080/',
    schedule,
    ok: true,
    verdicts: [{ code: verdict, detail: '', hint: '' }],
    numbers,
  })
}

/** A recording as `streamfold record` writes it. */
function recorded(): string {
  const recording = recordingOf([TWO_CALLS.slice(0, 300), TWO_CALLS.slice(300)])
  const head = { ...recording.head, other: { redaction: { policy: 'default@1', applied: true } } }
  return formatRecordings([{ lines: [head, ...recording.lines.slice(1)] }])
}

function capabilities(state: string): string {
  return JSON.stringify({
    schema: 'streamfold/capabilities@1',
    endpoint: 'https://api.example.com/v1',
    capabilities: { errors: { state, detail: 'a bad request gets 400 and a JSON body' } },
  })
}

describe('releaseChecklist', () => {
  test('asks ten questions, and of an empty folder shows none', () => {
    const document = releaseChecklist([temporaryFolder().path])
    expect(document.answers.map(({ id }) => id)).toEqual(QUESTIONS.map(({ id }) => id))
    expect(document.answers).toHaveLength(10)
    expect(document.ok).toBe(false)
    for (const { state, evidence, missing } of document.answers) {
      expect({ state, evidence }).toEqual({ state: 'not_shown', evidence: [] })
      expect(missing.length).toBeGreaterThan(0)
    }
  })

  test('all of it, each with the file that shows it', async () => {
    const folder = temporaryFolder()
    const two = folder.write('two.stream.jsonl', recorded())
    const choices = folder.write('choices.sse', TWO_CHOICES)
    const broken = folder.write('broken.sse', BROKEN)
    const cut = folder.write('cut.sse', CUT)
    folder.write('error.sse', sse({ error: { message: 'busy', type: 'server_error' } }))
    folder.write('page.txt', '<html><title>502</title></html>')
    await verified(folder)
    const ledger = folder.write('evidence/calls.db', LEDGER)
    const measured = folder.write('evidence/path.json', path(70_000, 'pass_through'))
    const log = folder.write(
      'evidence/streams.jsonl',
      '{"attempt":1,"tool_validation_result":"none"}\n{"attempt":3,"tool_validation_result":"valid"}\n',
    )
    const document = releaseChecklist([folder.path])
    expect(states(document)).toEqual(Object.fromEntries(QUESTIONS.map(({ id }) => [id, 'shown'])))
    expect(document).toMatchObject({
      ok: true,
      read: { recordings: 1, samples: 6, verified: 6, verifications: 1, paths: 1, ledgers: 1, logs: 1 },
      unreadable: [],
    })
    expect(answer(document, 'recorded').evidence).toEqual([
      { file: two, shows: '4 response headers, 2 reads, end complete' },
      { file: two, shows: 'redacted when it was written' },
    ])
    expect(answer(document, 'accumulation').evidence.map(({ file }) => file)).toEqual([choices, two])
    expect(answer(document, 'release').evidence.map(({ file }) => file)).toEqual([broken, ledger])
    expect(answer(document, 'null_finish').evidence).toContainEqual({
      file: cut,
      shows: 'never gets one: incomplete, and no call is released, verified',
    })
    expect(answer(document, 'arrival').evidence).toEqual([
      { file: measured, shows: 'http://127.0.0.1:8080/: pass_through' },
      { file: measured, shows: 'silent for 70 s: held' },
      { file: two, shows: 'the first event after 110 ms' },
    ])
    expect(answer(document, 'execution').evidence.at(-1)).toEqual({
      file: log,
      shows: '2 streams, none with more than 3 attempts',
    })
  })

  test('samples that no result of verify names show nothing', async () => {
    const folder = temporaryFolder()
    folder.write('two.sse', TWO_CALLS)
    await verify([folder.path], { plans: 'event', faults: 'none', update: true })
    const document = releaseChecklist([folder.path])
    expect(document.read).toMatchObject({ samples: 1, verified: 0 })
    expect(answer(document, 'accumulation').state).toBe('not_shown')
    expect(answer(document, 'replay').missing[0]).toMatch(/^a good result for every sample \(0 of 1\)/)
  })

  test('a sample that failed shows nothing', async () => {
    const folder = temporaryFolder()
    folder.write('two.sse', TWO_CALLS)
    await verify([folder.path], { plans: 'event', faults: 'none', update: true })
    folder.write('two.expected.json', folder.read('two.expected.json').replace('"completed"', '"degraded"'))
    folder.write('verify.json', JSON.stringify(await verify([folder.path], { plans: 'every-byte', faults: 'none' })))
    const document = releaseChecklist([folder.path])
    expect(document.read).toMatchObject({ samples: 1, verified: 0, verifications: 1 })
    expect(states(document)).toMatchObject({ cuts: 'not_shown', replay: 'not_shown' })
  })

  test('other plans are no proof for every cut', async () => {
    const folder = temporaryFolder()
    folder.write('two.sse', TWO_CALLS)
    await verified(folder, 'random:20')
    expect(answer(releaseChecklist([folder.path]), 'cuts')).toMatchObject({
      state: 'in_part',
      missing: [expect.stringMatching(/^a good result with every-byte/) as string],
    })
  })

  test('plain ASCII is no proof for cuts inside characters', async () => {
    const folder = temporaryFolder()
    folder.write('choices.sse', TWO_CHOICES)
    await verified(folder)
    expect(answer(releaseChecklist([folder.path]), 'cuts').missing).toEqual([
      'a verified sample with characters of several bytes',
    ])
  })

  test('an API that recordings speak and no sample shows', async () => {
    const folder = temporaryFolder()
    folder.write('two.sse', TWO_CALLS)
    await verified(folder)
    const body =
      'event: response.created\ndata: {"type":"response.created","response":{"id":"r","status":"in_progress"}}\n\n'
    folder.write(
      'other/app.stream.jsonl',
      formatRecordings([recordingOf([body], { url: 'https://api.example.com/v1/responses' })]),
    )
    expect(answer(releaseChecklist([folder.path]), 'adapters').missing).toEqual([
      'a verified sample of responses, which recordings speak',
    ])
  })

  test.each([
    { idleMs: 2000, events: 41, missing: 1 },
    { idleMs: 29_999, events: 41, missing: 1 },
    { idleMs: 30_000, events: 41, missing: 0 },
    { idleMs: 70_000, events: 0, missing: 2 },
  ])('a path that was silent for $idleMs ms, with $events events', ({ idleMs, events, missing }) => {
    const folder = temporaryFolder()
    folder.write('two.stream.jsonl', recorded())
    folder.write('path.json', path(idleMs, 'pass_through', events))
    expect(answer(releaseChecklist([folder.path]), 'arrival').missing).toHaveLength(missing)
  })

  test('a probe that says yes to errors shows them', () => {
    const folder = temporaryFolder()
    folder.write('capabilities.json', capabilities('partial'))
    expect(answer(releaseChecklist([folder.path]), 'errors').state).toBe('not_shown')
    const file = folder.write('capabilities.json', capabilities('yes'))
    expect(answer(releaseChecklist([folder.path]), 'errors')).toMatchObject({
      state: 'shown',
      evidence: [{ file, shows: 'https://api.example.com/v1: a bad request gets 400 and a JSON body' }],
    })
  })

  test('a log without a retry shows no bound', () => {
    const folder = temporaryFolder()
    folder.write('calls.db', LEDGER)
    folder.write('streams.log', '{"attempt":1,"tool_validation_result":"none"}\nnoise\n')
    expect(answer(releaseChecklist([folder.path]), 'execution')).toMatchObject({
      state: 'in_part',
      missing: [expect.stringContaining('log lines with a retry') as string],
    })
  })

  test('a database of another kind is no ledger, and other JSON is nothing', () => {
    const folder = temporaryFolder()
    folder.write('other.db', 'SQLite format 3\0…create table users(')
    folder.write('text.db', 'streamfold_execution')
    folder.write('package.json', '{"name":"x"}')
    folder.write('broken.json', '{')
    expect(releaseChecklist([folder.path]).read).toMatchObject({ ledgers: 0, verifications: 0 })
  })

  test('a corrupt recording is told, and is no sample that can be played again', async () => {
    const folder = temporaryFolder()
    folder.write('two.sse', TWO_CALLS)
    await verified(folder)
    const file = folder.write('bad.stream.jsonl', recorded().replace('call_a', 'call_x'))
    const document = releaseChecklist([folder.path])
    expect(document.unreadable).toMatchObject([{ file }])
    expect(answer(document, 'replay').state).toBe('in_part')
  })

  test('a path that is missing', () => {
    expect(() => releaseChecklist(['/nowhere/at/all'])).toThrow(SampleError)
  })
})
