import { describe, expect, test } from 'vitest'
import { collectResponses, ofType } from './collect.ts'
import {
  argumentsDelta,
  completed,
  created,
  done,
  functionCall,
  message,
  OSLO,
  textDelta,
  wholeMessage,
} from './wire.ts'

describe('resumed streams', () => {
  const tail = [textDelta(0, ' world'), argumentsDelta(1, 'slo"}'), done(0, message('Hello world'))]

  test('told so, the rest of a text is a tail, and a call waits for its whole', () => {
    const events = [...tail, done(1, functionCall(OSLO)), completed([message('Hello world'), functionCall(OSLO)])]
    const { chunks, skipped, notes } = collectResponses(events, { startingAfter: 7 })
    expect(ofType(chunks, 'text-delta').map(({ text }) => text)).toEqual([' world'])
    expect(ofType(chunks, 'tool-call-delta')[0]).toMatchObject({
      id: 'call_9',
      argumentsDelta: OSLO,
      name: 'get_weather',
    })
    expect([skipped, notes]).toEqual([[], []])
  })

  test('what was done before is not given out again, but its calls are', () => {
    const final = completed([message('Hello world'), functionCall(OSLO)])
    const { chunks } = collectResponses([final], { startingAfter: 20 })
    expect(ofType(chunks, 'text-delta')).toEqual([])
    expect(ofType(chunks, 'tool-call-delta')[0]).toMatchObject({ id: 'call_9', argumentsDelta: OSLO })
  })

  test('fragments that are no end of the whole are a conflict', () => {
    const { chunks } = collectResponses([argumentsDelta(1, 'Rome"}'), done(1, functionCall(OSLO))], {
      startingAfter: 7,
    })
    expect(ofType(chunks, 'tool-call-delta').some(({ conflict }) => conflict !== undefined)).toBe(true)
  })

  test('not told so, what is missing is a hole; the restated text is taken whole', () => {
    const { chunks, skipped, notes } = collectResponses([...tail, completed()])
    expect(skipped).toHaveLength(2)
    expect(notes).toContain('text_restated: text')
    expect(ofType(chunks, 'block-end')[0]).toMatchObject({ block: { text: 'Hello world' } })
  })

  test('a server that sends everything again is read as if nothing had been before', () => {
    const { chunks, skipped } = collectResponses(
      [created(), ...wholeMessage(0, ['Hi'])].map((event, i) => ({ ...event, sequence_number: i })),
      { startingAfter: 3 },
    )
    expect(skipped).toEqual([])
    expect(ofType(chunks, 'text-delta').map(({ text }) => text)).toEqual(['Hi'])
  })
})
