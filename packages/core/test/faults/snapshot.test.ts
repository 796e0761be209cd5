import { describe, expect, test } from 'vitest'
import { callsOf, engineFor, readPieces, run, textOf } from './run.ts'
import { DONE, bytesOf, chunk, finish, frag, sse, text } from './wire.ts'

describe('F203 — a character cut into its two UTF-16 halves', () => {
  const halves = ['\ud83d', '\ude00'] as const

  test('in text: every delta is well formed, and the whole is right', () => {
    const engine = engineFor()
    const texts: string[] = []
    for (const part of ['a', halves[0], `${halves[1]}b`]) {
      for (const event of engine.push(bytesOf(sse(text(part))))) if (event.type === 'text_delta') texts.push(event.text)
    }
    expect(texts).toEqual(['a', '😀b'])
  })

  test('in arguments', () => {
    const result = run(
      sse(
        frag(0, 'c1', 'f', `{"t":"${halves[0]}`),
        frag(0, undefined, undefined, `${halves[1]}"}`),
        finish('tool_calls'),
        DONE,
      ),
    )
    expect(callsOf(result)).toEqual(['f({"t":"😀"}) ready'])
  })

  test('in reasoning, with text between the halves', () => {
    const result = run(
      sse(chunk({ reasoning: halves[0] }), text('Hi'), chunk({ reasoning: halves[1] }), finish('stop'), DONE),
    )
    expect(result.report.choices[0]).toMatchObject({ reasoning: '😀', text: 'Hi' })
  })

  test('a half that never gets its other one stays as it was sent', () => {
    const result = readPieces([bytesOf(sse(text(`a${halves[0]}`), finish('stop'), DONE))])
    expect(textOf(result)).toBe(`a${halves[0]}`)
    expect(JSON.parse(JSON.stringify(result.snapshot))).toMatchObject({
      choices: [{ blocks: [{ text: `a${halves[0]}` }] }],
    })
  })
})

describe('F204 — nothing stays open after the end', () => {
  const open = sse(chunk({ reasoning: 'plan' }), text('Hel'), frag(0, 'c1', 'f', '{"a"'), frag(1, 'c2', 'g', '{}'))

  test.each([
    { name: 'abort', tail: '', end: 'aborted' },
    { name: 'reset', tail: '', end: 'reset' },
    { name: 'the end of the body', tail: '', end: 'eof' },
    { name: 'an error event', tail: sse({ error: 'no' }), end: 'eof' },
    { name: 'an event over the limit', tail: `data: ${'x'.repeat(2_000)}`, end: 'eof' },
    { name: 'a length limit of the provider', tail: sse(finish('length'), DONE), end: 'eof' },
  ] as const)('$name', ({ tail, end }) => {
    const { events, snapshot } = run(open + tail, { end, limits: { eventBytes: 1_000 } })
    const ended = events.filter(({ type }) => type === 'tool_call_failed' || type === 'tool_call_held')
    expect(ended.map((event) => ('callId' in event ? event.callId : undefined))).toEqual(['c1', 'c2'])
    expect(snapshot.ended).toBe(true)
    expect(snapshot.choices[0]!.blocks.map(({ status }) => status)).not.toContain('streaming')
  })
})

test('F205 — after an abort no event comes, whatever is still on its way', () => {
  const engine = engineFor()
  engine.push(bytesOf(sse(text('a'))))
  expect(engine.end('aborted').at(-1)).toMatchObject({ type: 'stream_error', outcome: 'cancelled' })
  const after = engine.snapshot()
  expect(engine.push(bytesOf(sse(text('b'), text('c'))))).toEqual([])
  expect(engine.snapshot()).toBe(after)
  expect(after.choices[0]!.blocks).toEqual([{ type: 'text', index: 0, text: 'a', status: 'interrupted' }])
})

test('F211 — what came before an error is kept, marked, and can be stored', () => {
  const result = run(sse(...Array.from({ length: 10 }, (_, i) => text(`${i} `))), { end: 'reset' })
  expect(result.report).toMatchObject({ outcome: 'incomplete', error: { code: 'incomplete_stream' } })
  const stored = JSON.parse(JSON.stringify(result.snapshot)) as unknown
  expect(stored).toEqual(result.snapshot)
  expect(stored).toMatchObject({
    ended: true,
    choices: [{ blocks: [{ type: 'text', text: '0 1 2 3 4 5 6 7 8 9 ', status: 'interrupted' }] }],
  })
})
