import { chatCompletions, createStreamEngine } from 'streamfold'
import { expect, test } from 'vitest'
import { LiveView } from '../src/demo/live-view.ts'
import { themeOf } from '../src/report-text/theme.ts'
import { call, delta, sse } from './bodies.ts'
import { memoryIo } from './memory-io.ts'

/** What is shown of a body that comes in these reads; all events of a read are there before the first is shown. */
async function shown(...bodies: readonly string[]): Promise<string> {
  const { io, stdout } = memoryIo()
  const view = new LiveView(io.stdout, themeOf(io.stdout, io.env))
  const engine = createStreamEngine({ adapter: chatCompletions() })
  for (const body of bodies) for (const event of engine.push(new TextEncoder().encode(body))) await view.event(event)
  for (const event of engine.end('eof')) await view.event(event)
  return stdout()
}

const EVENTS = [
  delta({ content: 'First.' }),
  call(0, '{"a"', 'call_a', 'add'),
  call(0, ':1}'),
  delta({ content: 'Then.' }),
  call(1, '{}', 'call_b', 'now'),
  delta({}, 'tool_calls'),
  '[DONE]',
]

test('one read shows what many reads show, in the order of the events', async () => {
  const whole = await shown(sse(...EVENTS))
  expect(whole).toBe(
    `text     First.
call 1   add (call_a): collecting
call 1   {"a":1}
text     Then.
call 2   now (call_b): collecting
call 2   {}
call 1   complete, 7 B of arguments
call 2   complete, 2 B of arguments
call 1   released: add({"a":1})
call 2   released: now({})
`,
  )
  expect(await shown(...EVENTS.map((event) => sse(event)))).toBe(whole)
})

test('a call that is not released says why', async () => {
  expect(await shown(sse(call(0, '{"a":1,"a":2}', 'call_a', 'add'), delta({}, 'tool_calls'), '[DONE]'))).toContain(
    'call 1   held: arguments_unsafe\n',
  )
  expect(await shown(sse(call(0, '{"a"', 'call_a', 'add'), delta({}, 'tool_calls'), '[DONE]'))).toContain(
    'call 1   failed: arguments_incomplete\n',
  )
})
