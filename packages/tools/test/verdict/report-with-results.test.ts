import { chatCompletions, createStreamEngine } from 'streamfold'
import type { FaultCode, StreamReport } from 'streamfold'
import { describe, expect, test } from 'vitest'
import { refusedResult } from '../../src/executor/tool-result.ts'
import type { ToolResult } from '../../src/executor/tool-result.ts'
import { reportWithResults } from '../../src/verdict/report-with-results.ts'
import { body } from '../conversation/scripted-model.ts'

function reportOf(text: string): StreamReport {
  const engine = createStreamEngine({ adapter: chatCompletions() })
  engine.push(new TextEncoder().encode(text))
  engine.end('eof')
  return engine.report()
}

const TWO = body.calls({ id: 'call_1', name: 'add', args: '{"a":1}' }, { id: 'call_2', name: 'date', args: '{}' })

function result(ordinal: number, status: ToolResult['status'], code?: FaultCode): ToolResult {
  return {
    callId: `call_${ordinal + 1}`,
    ordinal,
    name: 'add',
    status,
    ...(code === undefined ? {} : { code, phase: 'execute' }),
    content: `says ${code ?? status}`,
    truncated: false,
    replayed: false,
  }
}

const refused = (ordinal: number, code: FaultCode, phase: ToolResult['phase'] = 'authorize'): ToolResult =>
  refusedResult({ callId: `call_${ordinal + 1}`, ordinal, name: 'add' }, code, phase ?? 'authorize', 'no')

const pass = { state: 'pass' }
const fail = (callId: string, code: FaultCode): object => ({ state: 'fail', callId, code })
const waits = (callId: string, code?: FaultCode): object => ({
  state: 'not_reached',
  callId,
  ...(code === undefined ? {} : { code }),
})
const ok = result(0, 'succeeded')

describe('two calls', () => {
  test.each([
    { name: 'both done', results: [ok, result(1, 'succeeded')], authorized: pass, executed: pass, ran: true },
    {
      name: 'a replayed result is one that ran',
      results: [ok, { ...result(1, 'succeeded'), replayed: true }],
      authorized: pass,
      executed: pass,
      ran: true,
    },
    {
      name: 'one failed',
      results: [ok, result(1, 'failed', 'execution_failed')],
      authorized: pass,
      executed: fail('call_2', 'execution_failed'),
      ran: true,
    },
    {
      name: 'one is unknown',
      results: [result(0, 'unknown', 'outcome_unknown'), result(1, 'succeeded')],
      authorized: pass,
      executed: fail('call_1', 'outcome_unknown'),
      ran: true,
    },
    {
      name: 'the check right before the execution said no',
      results: [result(0, 'failed', 'not_authorized'), refused(1, 'batch_held', 'execute')],
      authorized: fail('call_1', 'not_authorized'),
      executed: waits('call_1'),
      ran: false,
    },
    {
      name: 'one was refused by its schema and holds the other',
      results: [refused(0, 'batch_held', 'execute'), refused(1, 'schema_violation', 'validate')],
      authorized: fail('call_2', 'schema_violation'),
      executed: waits('call_1', 'batch_held'),
      ran: false,
    },
    {
      name: 'a person said no to both: the first is the evidence',
      results: [refused(0, 'approval_denied'), refused(1, 'approval_denied')],
      authorized: fail('call_1', 'approval_denied'),
      executed: waits('call_1'),
      ran: false,
    },
    {
      name: 'one was refused, the other ran all the same',
      results: [refused(0, 'tool_not_allowed'), result(1, 'succeeded')],
      authorized: fail('call_1', 'tool_not_allowed'),
      executed: waits('call_1'),
      ran: true,
    },
    {
      name: 'the key belongs to other work',
      results: [refused(0, 'key_conflict', 'execute'), refused(1, 'batch_held', 'execute')],
      authorized: pass,
      executed: fail('call_1', 'key_conflict'),
      ran: false,
    },
    {
      name: 'one waits for a person',
      results: [result(0, 'pending', 'approval_required'), result(1, 'pending', 'batch_held')],
      authorized: waits('call_1', 'approval_required'),
      executed: waits('call_1'),
      ran: false,
    },
    {
      name: 'one is under way',
      results: [ok, result(1, 'pending', 'in_progress')],
      authorized: pass,
      executed: waits('call_2', 'in_progress'),
      ran: true,
    },
    {
      name: 'both were cancelled before they began',
      results: [refused(0, 'cancelled', 'execute'), refused(1, 'cancelled', 'execute')],
      authorized: waits('call_1', 'cancelled'),
      executed: waits('call_1'),
      ran: false,
    },
    {
      name: 'the answer no longer counted',
      results: [refused(0, 'stale_attempt', 'execute'), refused(1, 'stale_attempt', 'execute')],
      authorized: waits('call_1', 'stale_attempt'),
      executed: waits('call_1'),
      ran: false,
    },
    { name: 'one has no result', results: [ok], authorized: waits('call_2'), executed: waits('call_2'), ran: true },
    {
      name: 'nothing was handed over',
      results: [],
      authorized: waits('call_1'),
      executed: waits('call_1'),
      ran: false,
    },
  ])('$name', ({ results, authorized, executed, ran }) => {
    const { verdict, attempts } = reportWithResults(reportOf(TWO), [{ results }])
    expect(withoutMessage(verdict.tool_authorized)).toEqual(authorized)
    expect(withoutMessage(verdict.tool_executed)).toEqual(executed)
    expect(attempts.map((attempt) => attempt.executed)).toEqual([ran])
  })
})

function withoutMessage(rung: object): object {
  const { message: _message, ...rest } = rung as { message?: string }
  return rest
}

test('the evidence says what the model was told', () => {
  const { verdict } = reportWithResults(reportOf(TWO), [{ results: [ok, refused(1, 'approval_denied')] }])
  expect(verdict.tool_authorized).toEqual({
    state: 'fail',
    code: 'approval_denied',
    message: 'Not run (approval_denied): no',
    callId: 'call_2',
  })
})

test.each([
  { result: ok, state: 'succeeded', code: null },
  { result: result(0, 'failed', 'execution_failed'), state: 'failed', code: 'execution_failed' },
  { result: refused(0, 'schema_violation', 'validate'), state: 'failed', code: 'schema_violation' },
  { result: result(0, 'unknown', 'outcome_unknown'), state: 'executing', code: 'outcome_unknown' },
  { result: result(0, 'pending', 'in_progress'), state: 'executing', code: 'in_progress' },
  { result: result(0, 'pending', 'approval_required'), state: 'validated', code: 'approval_required' },
  { result: result(0, 'pending', 'batch_held'), state: 'authorized', code: 'batch_held' },
])('a call that is $result.status ($code) is $state', ({ result: given, state, code }) => {
  const [choice] = reportWithResults(reportOf(TWO), [{ results: [given] }]).choices
  expect(choice?.toolCalls.map((call) => [call.state, call.code])).toEqual([
    [state, code],
    ['complete', null],
  ])
})

test('the rest of the report, and the report that was given, stay as they are', () => {
  const report = reportOf(TWO)
  const before = structuredClone(report)
  const completed = reportWithResults(report, [{ results: [ok] }])
  expect(report).toEqual(before)
  const { choices: _choices, attempts: _attempts, verdict: _verdict, ...rest } = completed
  expect(before).toMatchObject(rest)
  expect(completed.verdict).toMatchObject({ http_ok: before.verdict.http_ok, tool_args_complete: { state: 'pass' } })
})

test('a stream without calls has nothing to answer', () => {
  const report = reportOf(body.text('Hello.'))
  const { verdict } = reportWithResults(report, [{ results: [] }])
  expect(verdict.tool_authorized).toEqual({ state: 'not_applicable' })
  expect(verdict.tool_executed).toEqual({ state: 'not_applicable' })
})

test('calls that the stream did not release are not reached, whatever the results repeat about them', () => {
  const bad = body.calls({ id: 'call_1', name: 'add', args: '{"a":' }, { id: 'call_2', name: 'date', args: '{}' })
  const results = [refused(0, 'arguments_incomplete', 'call'), refused(1, 'batch_held', 'call')]
  const { verdict, choices, attempts } = reportWithResults(reportOf(bad), [{ results }])
  expect(verdict.tool_args_complete.state).toBe('fail')
  expect(verdict.tool_authorized).toMatchObject({ state: 'not_reached', callId: 'call_1' })
  expect(verdict.tool_executed.state).toBe('not_reached')
  expect(choices[0]?.toolCalls.map(({ state }) => state)).toEqual(['failed', 'complete'])
  expect(attempts[0]?.executed).toBe(false)
})

test('results belong to the choice that they name', () => {
  const { verdict } = reportWithResults(reportOf(TWO), [{ choice: 1, results: [ok, result(1, 'succeeded')] }])
  expect(verdict.tool_executed).toEqual({ state: 'not_reached', callId: 'call_1' })
})
