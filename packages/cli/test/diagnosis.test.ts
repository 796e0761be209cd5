import { createHash } from 'node:crypto'
import type { ChecklistDocument } from '@streamfold/recording'
import { reportWithResults } from '@streamfold/tools'
import { diagnose } from 'streamfold/engine'
import type { LogLine } from 'streamfold/engine'
import { describe, expect, test } from 'vitest'
import { inspectBytes } from '../src/commands/inspect.ts'
import { runProgram } from '../src/program.ts'
import { call, COMPLETED, CUT, delta, recording, sse, temporaryFolder, WITH_CALL } from './bodies.ts'
import { memoryIo, reads } from './memory-io.ts'

const write = temporaryFolder()

async function run(...args: readonly string[]): Promise<{ exit: number; stdout: string; stderr: string }> {
  const memory = memoryIo({ stdin: reads(WITH_CALL) })
  const exit = await runProgram(args, memory.io)
  return { exit, stdout: memory.stdout(), stderr: memory.stderr() }
}

describe('inspect --log', () => {
  test('one line per stream, in file order, hashed with SHA-256 and without content', async () => {
    const files = [
      write('call.sse', WITH_CALL),
      write('two.stream.jsonl', recording(COMPLETED) + recording(CUT, 'cut')),
    ]
    const { exit, stdout } = await run('inspect', '--log', ...files)
    const lines = stdout.trimEnd().split('\n')
    const parsed = lines.map((line) => JSON.parse(line) as LogLine & { file: string })
    expect(exit).toBe(1)
    expect(parsed.map(({ file, outcome }) => [file, outcome])).toEqual([
      [files[0], 'completed'],
      [files[1], 'completed'],
      [files[1], 'incomplete'],
    ])
    expect(parsed[0]!.tool_calls[0]).toMatchObject({
      argument_hash: `sha256:${createHash('sha256').update('{"a":1}').digest('hex')}`,
      argument_bytes: 7,
      argument_keys: ['a'],
    })
    expect(stdout).not.toMatch(/Hello|Looking|Paris|Par"/)
  })

  test.each(['--json', '--jsonl'])('is no companion of %s', async (other) => {
    expect(await run('inspect', '--log', other, 'x')).toMatchObject({ exit: 2 })
  })
})

describe('hints', () => {
  const cut = sse(call(0, '{"a":1', 'call_1', 'add'), delta({}, 'tool_calls'), '[DONE]')

  test('stand below what to do next, with their evidence', async () => {
    const { exit, stdout } = await run('inspect', write('cut.sse', cut))
    expect(exit).toBe(0)
    expect(stdout).toMatch(/^hint {5}arguments_cut \(call_1\): /m)
    expect(stdout).toContain('\n         - 6 argument bytes: the text ends after 6 characters, inside the object\n')
  })

  test('are not in the report document', async () => {
    expect((await run('inspect', '--json', write('cut.sse', cut))).stdout).not.toContain('arguments_cut')
  })

  test('a good stream has none', async () => {
    expect((await run('inspect', write('good.sse', WITH_CALL))).stdout).not.toMatch(/^hint/m)
  })

  test('--upstream says which side is to blame; standard input will do', async () => {
    const { stdout } = await run('inspect', write('cut.sse', cut), '--upstream', '-')
    expect(stdout).toMatch(/^hint {5}arguments_lost_on_the_way: /m)
    expect(stdout).toContain('- 6 argument bytes came, 7 were sent\n')
    expect(stdout).not.toContain('arguments_cut')
  })

  test('--not-executed says where to look', async () => {
    const { exit, stdout } = await run('inspect', '--not-executed', write('good.sse', WITH_CALL))
    expect(exit).toBe(0)
    expect(stdout).toMatch(/^hint {5}not_executed: /m)
  })

  test.each([
    { args: ['a', 'b', '--upstream', 'c'], says: '--upstream is held against one file' },
    { args: ['-', '--upstream', '-'], says: 'standard input (-) can be read only once' },
  ])('$args is misuse', async ({ args, says }) => {
    expect(await run('inspect', ...args)).toMatchObject({ exit: 2, stderr: expect.stringContaining(says) as string })
  })

  test('an upstream that is no one recording', async () => {
    const file = write('good.sse', WITH_CALL)
    const two = write('two.stream.jsonl', recording(COMPLETED) + recording(COMPLETED))
    expect(await run('inspect', file, '--upstream', two)).toMatchObject({
      exit: 3,
      stdout: '',
      stderr: `streamfold: ${two}: holds 2 exchanges; --upstream takes a recording of one\n`,
    })
    expect(await run('inspect', file, '--upstream', '/nowhere')).toMatchObject({ exit: 3, stdout: '' })
  })
})

describe('a report that an executor has completed', () => {
  const [report] = inspectBytes(new TextEncoder().encode(WITH_CALL))
  const result = { callId: 'call_1', ordinal: 0, name: 'add', content: 'x', truncated: false, replayed: false }

  test.each([
    { status: 'refused', code: 'not_authorized', says: 'refused or failed (not_authorized)' },
    { status: 'pending', code: 'approval_required', says: 'waits for authorization (approval_required)' },
    { status: 'pending', code: 'in_progress', says: 'was begun and has not reported back (in_progress)' },
    { status: 'unknown', code: 'outcome_unknown', says: 'was begun and has not reported back (outcome_unknown)' },
  ] as const)('$status with $code', ({ says, ...how }) => {
    const completed = reportWithResults(report!, [{ results: [{ ...result, ...how }] }])
    expect(diagnose(completed)).toMatchObject([
      { code: 'not_executed', evidence: ['1 call whole, valid and released', `call call_1: ${says}`] },
    ])
  })

  test.each([{ status: 'succeeded' }, { status: 'failed', code: 'execution_failed' }] as const)(
    '$status: it ran, so nothing points anywhere',
    (how) => {
      expect(diagnose(reportWithResults(report!, [{ results: [{ ...result, ...how }] }]))).toEqual([])
    },
  )

  test('one that was never handed over says nothing of it', () => {
    expect(diagnose(reportWithResults(report!, []))).toEqual([])
  })
})

describe('verify --checklist', () => {
  test('exit 1 while something is not shown, with what is missing', async () => {
    const file = write('shown.stream.jsonl', recording(COMPLETED))
    const { exit, stdout, stderr } = await run('verify', '--checklist', file)
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: '' })
    expect(stdout).toContain('! 1. Are raw headers and the redacted sequence of events recorded? in part\n')
    expect(stdout).toContain(`     ${file}: 1 response header, 1 read, end complete\n`)
    expect(stdout).toContain('     missing: a recording that says it is redacted: ')
    expect(stdout).toContain('FAIL 9. Are idempotency, bounds of retries and an audit trail in place? not shown\n')
    expect(stdout).toMatch(/\n0 of 10 shown\n$/)
  })

  test('--json is one document', async () => {
    const { stdout } = await run('verify', '--checklist', '--json', write('shown.stream.jsonl', recording(COMPLETED)))
    const document = JSON.parse(stdout) as ChecklistDocument
    expect(document).toMatchObject({ schema: 'streamfold/checklist@1', ok: false, read: { recordings: 1 } })
    expect(document.answers).toHaveLength(10)
  })

  test('a path that is missing', async () => {
    expect(await run('verify', '--checklist', '/nowhere')).toMatchObject({
      exit: 3,
      stdout: '',
      stderr: 'streamfold: /nowhere: no such file or folder\n',
    })
  })
})
