import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAwsEventStreamParser } from '../../src/aws-event-stream/parse.ts'
import type { AwsEventStreamParser } from '../../src/aws-event-stream/parse.ts'
import type { ServerSentEvent } from '../../src/sse/event.ts'
import type { FramerOptions } from '../../src/sse/framer.ts'
import { byteByByte, readAll } from '../reads.ts'
import { chunkMessage, join, message, prelude, rawMessage } from './message.ts'

const SEED = 24_494_897

interface Framed {
  readonly events: readonly ServerSentEvent[]
  readonly overflow: AwsEventStreamParser['overflow']
  readonly corrupt: AwsEventStreamParser['corrupt']
}

function frame(pieces: readonly Uint8Array[], options?: FramerOptions): Framed {
  const parser = createAwsEventStreamParser(options)
  return { events: readAll(parser, pieces), overflow: parser.overflow, corrupt: parser.corrupt }
}

/** In one piece, and byte by byte; both must give the same. */
function framed(bytes: Uint8Array, options?: FramerOptions): Framed {
  const whole = frame([bytes], options)
  expect(frame(byteByByte(bytes), options)).toEqual(whole)
  return whole
}

const EVENT = { ':message-type': 'event' }

describe('messages', () => {
  test('become events with offsets, and say their type unless it is "chunk"', () => {
    const first = message('{"a":1}', { ':event-type': 'contentBlockDelta', ...EVENT })
    const second = message('{"b":"日"}', { ':event-type': 'chunk', ...EVENT })
    const third = message('')
    expect(framed(join(first, second, third))).toEqual({
      events: [
        { data: '{"a":1}', event: 'contentBlockDelta', offset: 0, endOffset: first.length },
        { data: '{"b":"日"}', offset: first.length, endOffset: first.length + second.length },
        { data: '', offset: first.length + second.length, endOffset: first.length + second.length + third.length },
      ],
      overflow: undefined,
      corrupt: undefined,
    })
  })

  test('of InvokeModel are unwrapped from base64', () => {
    const event = '{"choices":[{"delta":{"content":"日本 😀"}}]}'
    expect(framed(chunkMessage(event)).events[0]!.data).toBe(event)
  })

  test.each([
    { name: 'null', payload: 'null' },
    { name: 'no JSON', payload: 'hello' },
  ])('with $name are left as they are', ({ payload }) => {
    expect(framed(message(payload)).events[0]!.data).toBe(payload)
  })

  test.each(['{"bytes":"***"}', '{"bytes":1}', '{"bytes":null}'])(
    'with bytes that can not be unwrapped are no JSON: the event in them was lost (%s)',
    (payload) => {
      const { data } = framed(message(payload)).events[0]!
      expect(() => JSON.parse(data) as unknown).toThrow(SyntaxError)
    },
  )

  test('a type is found among headers of every kind', () => {
    const headers = {
      yes: true,
      no: false,
      integer: -1,
      long: 2n ** 40n,
      bytes: Uint8Array.of(1, 2, 3),
      when: new Date(0),
      empty: '',
      ':event-type': 'metadata',
    }
    expect(framed(message('{}', headers)).events[0]!.event).toBe('metadata')
  })

  test.each([
    { name: 'a name longer than the headers', headers: [9, 0x61] },
    { name: 'a name without a type', headers: [1, 0x61] },
    { name: 'an unknown type', headers: [1, 0x61, 99, 1, 2, 3] },
    { name: 'a text longer than the headers', headers: [1, 0x61, 7, 0, 9, 0x62] },
    { name: 'half a length', headers: [1, 0x61, 7, 0] },
  ])('headers that contradict themselves lose only themselves: $name', ({ headers }) => {
    const bytes = rawMessage(Uint8Array.from(headers), Uint8Array.of(0x7b, 0x7d))
    expect(framed(bytes)).toEqual({
      events: [{ data: '{}', offset: 0, endOffset: bytes.length }],
      overflow: undefined,
      corrupt: undefined,
    })
  })

  test('bytes that are not UTF-8 mark their message, and no other', () => {
    const bad = Uint8Array.of(0x7b, 0xff, 0x7d)
    const wrapped = message(JSON.stringify({ bytes: btoa('{"a":"\xff"}') }))
    expect(
      framed(join(message(bad), message('{"\ufffd":1}'), wrapped)).events.map((event) => event.invalidUtf8),
    ).toEqual([true, undefined, true])
  })
})

describe('exceptions', () => {
  test.each([
    {
      name: 'a modelled one',
      bytes: message('{"message":"Too many requests"}', {
        ':message-type': 'exception',
        ':exception-type': 'throttlingException',
      }),
      error: { code: 'throttlingException', message: 'Too many requests' },
    },
    {
      name: 'an unmodelled one',
      bytes: message('', { ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'it broke' }),
      error: { code: 'InternalError', message: 'it broke' },
    },
    { name: 'without a code', bytes: message('plain', { ':message-type': 'exception' }), error: { message: 'plain' } },
    {
      name: 'with a message that is no text',
      bytes: message('{"message":1}', { ':message-type': 'exception' }),
      error: { message: '{"message":1}' },
    },
  ])('become an error event: $name', ({ bytes, error }) => {
    const { events } = framed(bytes)
    expect(events).toMatchObject([{ event: 'error' }])
    expect(JSON.parse(events[0]!.data)).toEqual({ error })
  })
})

describe('a body that is broken', () => {
  const good = message('{"a":1}', { ':event-type': 'x', ...EVENT })

  test('any flipped byte is found, and nothing of its message comes out', () => {
    for (let at = 0; at < good.length; at++) {
      const bytes = join(good, good, good)
      bytes[good.length + at]! ^= 0x01
      const { events, corrupt, overflow } = frame([bytes])
      expect(events).toHaveLength(1)
      expect(corrupt ?? overflow).toMatchObject({ offset: good.length })
    }
  })

  test.each([
    { name: 'a wrong checksum of the prelude', at: 8, message: 'the checksum of a message prelude is wrong' },
    { name: 'a wrong checksum of the message', at: good.length - 1, message: 'the checksum of a message is wrong' },
  ])('$name', ({ at, message: said }) => {
    const bytes = join(good, good)
    bytes[good.length + at]! ^= 0xff
    expect(framed(bytes)).toMatchObject({ events: [{ event: 'x' }], corrupt: { offset: good.length, message: said } })
  })

  test.each([
    { name: 'smaller than any message', total: 15, headers: 0 },
    { name: 'nothing', total: 0, headers: 0 },
    { name: 'headers longer than the message', total: 20, headers: 5 },
    { name: 'huge headers', total: 100, headers: 0xffff_ffff },
  ])('lengths that contradict each other: $name', ({ total, headers }) => {
    expect(framed(join(good, prelude(total, headers), good))).toMatchObject({
      events: [{ event: 'x' }],
      corrupt: { offset: good.length, message: 'the lengths of a message contradict each other' },
    })
  })

  test('cut anywhere inside a message, it says so; cut between messages, it does not', () => {
    const bytes = join(good, good)
    for (let to = 0; to <= bytes.length; to++) {
      const { events, corrupt } = frame([bytes.subarray(0, to)])
      expect(events).toHaveLength(Math.floor(to / good.length))
      const begun = { offset: to < good.length ? 0 : good.length, message: 'the body ends inside a message' }
      expect(corrupt).toEqual(to % good.length === 0 ? undefined : begun)
    }
  })

  test('bytes behind the last message are the beginning of another', () => {
    expect(framed(join(good, Uint8Array.of(0, 0)))).toMatchObject({
      events: [{ event: 'x' }],
      corrupt: { offset: good.length },
    })
  })

  test('nothing comes out behind a fault', () => {
    const parser = createAwsEventStreamParser()
    const bytes = join(good)
    bytes[8]! ^= 1
    expect(parser.push(bytes)).toEqual([])
    expect(parser.push(good)).toEqual([])
    expect(parser.end()).toEqual([])
    expect(parser.corrupt).toMatchObject({ offset: 0 })
  })
})

describe('the limit', () => {
  const good = message('{"a":1}')

  test.each([good.length, good.length + 1])('a message of the limit %i or fewer bytes passes', (maxEventBytes) => {
    expect(framed(good, { maxEventBytes })).toMatchObject({ events: [{ data: '{"a":1}' }], overflow: undefined })
  })

  test('one byte more does not', () => {
    const maxEventBytes = good.length - 1
    expect(framed(join(message(''), good), { maxEventBytes })).toMatchObject({
      events: [{ data: '' }],
      overflow: { offset: 16, limit: maxEventBytes },
      corrupt: undefined,
    })
  })

  test('a message that says it is huge is refused before its bytes come', () => {
    const parser = createAwsEventStreamParser()
    parser.push(prelude(0xffff_ffff, 0))
    expect(parser.overflow).toEqual({ offset: 0, limit: 8 * 2 ** 20 })
  })

  test('the default is 8 MiB', () => {
    const parser = createAwsEventStreamParser()
    parser.push(prelude(8 * 2 ** 20, 0))
    expect(parser.overflow).toBeUndefined()
    const other = createAwsEventStreamParser()
    other.push(prelude(8 * 2 ** 20 + 1, 0))
    expect(other.overflow).toBeDefined()
  })

  test('a message larger than the first buffer comes out whole', () => {
    const data = JSON.stringify({ a: 'x'.repeat(5000) })
    const bytes = message(data)
    expect(frame([bytes.subarray(0, 1500), bytes.subarray(1500)]).events[0]!.data).toBe(data)
  })
})

test(`any bytes at any cuts: the same events, and no error (seed ${SEED})`, { timeout: 60_000 }, () => {
  const part = fc.oneof(
    fc.constantFrom(
      message('{"a":1}'),
      chunkMessage('{"b":2}'),
      message('x', { ':message-type': 'exception' }),
      prelude(20, 2),
    ),
    fc.uint8Array({ maxLength: 20 }),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), fc.array(fc.nat(200), { maxLength: 5 }), (parts, places) => {
      const bytes = join(...parts)
      const edges = [0, ...places.map((place) => Math.min(place, bytes.length)).toSorted((a, b) => a - b), bytes.length]
      const pieces = edges.slice(1).map((to, at) => bytes.subarray(edges[at], to))
      expect(frame(pieces, { maxEventBytes: 150 })).toEqual(frame([bytes], { maxEventBytes: 150 }))
    }),
    { seed: SEED, numRuns: 1000 },
  )
})
