import { describe, expect, test } from 'vitest'
import { toRequestMessages } from '../../src/history/index.ts'
import { called, input, openTool, readMessages, said, start, stream } from './messages-wire.ts'
import { run } from './run.ts'
import { frag, sse, text } from './wire.ts'

describe('F206 — a turn that was aborted leaves a call without an answer', () => {
  const wholeCall = stream(start(), ...said(0, 'Looking. '), ...called(1, 't1', 'get', '{"n":1}'))
  const cutCall = stream(start(), ...said(0, 'Looking. '), openTool(1, 't1', 'get'), input(1, '{"n":'))

  test('the call is dropped as a unit, and what was shown stays', () => {
    const { snapshot } = readMessages(wholeCall, { end: 'aborted' })
    expect(toRequestMessages(snapshot, [], 'anthropic_messages')).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'Looking. ' }] },
    ])
  })

  test('or it is answered: that it was not run is an answer too', () => {
    const { snapshot } = readMessages(wholeCall, { end: 'aborted' })
    const results = [{ callId: 't1', content: 'Not run: the turn was stopped.', isError: true }]
    expect(toRequestMessages(snapshot, results, 'anthropic_messages')).toMatchObject([
      { content: [{ type: 'text' }, { type: 'tool_use', id: 't1' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', is_error: true }] },
    ])
  })

  test('a call that never became whole does not enter the history, answered or not', () => {
    const { snapshot } = readMessages(cutCall, { end: 'reset' })
    const shown = [{ role: 'assistant', content: [{ type: 'text', text: 'Looking. ' }] }]
    expect(toRequestMessages(snapshot, [], 'anthropic_messages')).toEqual(shown)
    expect(toRequestMessages(snapshot, [{ callId: 't1', content: 'x' }], 'anthropic_messages')).toEqual(shown)
  })

  test('the same for Chat Completions, with two calls of which one was answered before the stop', () => {
    const body = sse(text('Looking. '), frag(0, 'c1', 'get', '{"n":1}'), frag(1, 'c2', 'get', '{"n":2}'))
    const { snapshot } = run(body, { end: 'aborted' })
    expect(toRequestMessages(snapshot, [{ callId: 'c1', content: 'one' }], 'chat_completions')).toEqual([
      {
        role: 'assistant',
        content: 'Looking. ',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get', arguments: '{"n":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
    ])
  })
})
