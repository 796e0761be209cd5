import { describe, expect, test } from 'vitest'
import { RecordingChooser } from '../../src/replay/choose-recording.ts'
import type { ReplayRequest } from '../../src/replay/choose-recording.ts'
import { bytesOf, recordingOf } from '../wire.ts'

const first = { name: 'first', recording: recordingOf(['1'], { body: { q: 1, r: { a: 1, b: 2 } }, id: 'id-1' }) }
const second = { name: 'second', recording: recordingOf(['2'], { body: { q: 2 } }) }
const other = { name: 'other', recording: recordingOf(['3'], { url: 'https://api.example.com/v1/responses' }) }
const ask = (target: string, body?: unknown, wanted?: string): ReplayRequest => ({
  method: 'POST',
  target,
  body: bytesOf(body === undefined ? '' : JSON.stringify(body)),
  wanted,
})

describe('which recording answers', () => {
  test('the only one, whatever is asked', () => {
    expect(new RecordingChooser([other], false).choose(ask('/anything')).found).toBe(other)
  })

  test('by path, by body, by name and by id', () => {
    const chooser = new RecordingChooser([first, second, other], false)
    expect(chooser.choose(ask('/v1/responses?x=1')).found).toBe(other)
    expect(chooser.choose(ask('/v1/chat/completions', { q: 2 })).found).toBe(second)
    // The same JSON, written in another order.
    expect(chooser.choose(ask('/v1/chat/completions', { r: { b: 2, a: 1 }, q: 1 })).found).toBe(first)
    expect(chooser.choose(ask('/nowhere', {}, 'second')).found).toBe(second)
    expect(chooser.choose(ask('/nowhere', {}, 'id-1')).found).toBe(first)
  })

  test('in turn where nothing tells them apart, the last for ever', () => {
    const chooser = new RecordingChooser([first, second, other], false)
    const found = [1, 2, 3].map(() => chooser.choose(ask('/v1/chat/completions', { q: 9 })).found?.name)
    expect(found).toEqual(['first', 'second', 'second'])
  })

  test('none, and why', () => {
    const chooser = new RecordingChooser([first, other], false)
    expect(chooser.choose(ask('/v1/messages'))).toEqual({
      reasons: [
        'first: recorded /v1/chat/completions, asked /v1/messages',
        'other: recorded /v1/responses, asked /v1/messages',
      ],
    })
    expect(chooser.choose({ ...ask('/v1/responses'), method: 'GET' })).toMatchObject({
      reasons: ['first: recorded POST, asked GET', 'other: recorded POST, asked GET'],
    })
    expect(chooser.choose(ask('/', {}, 'third'))).toEqual({
      reasons: ['no recording is named "third"; known are first, other'],
    })
  })

  test('strict wants all of it', () => {
    const chooser = new RecordingChooser([first], true)
    expect(chooser.choose(ask('/v1/messages')).found).toBeUndefined()
    expect(chooser.choose(ask('/v1/chat/completions', { q: 3 }))).toEqual({
      reasons: ['first: another request body was recorded'],
    })
    expect(chooser.choose(ask('/v1/chat/completions', { q: 1, r: { a: 1, b: 2 } })).found).toBe(first)
    // Nothing was recorded that the body could differ from.
    expect(new RecordingChooser([other], true).choose(ask('/v1/responses', { q: 3 })).found).toBe(other)
  })
})
