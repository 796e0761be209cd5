import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodyUnits, unitBorders } from '../../src/replay/body-units.ts'
import { bytesOf } from '../wire.ts'

const unitsOf = (text: string): readonly string[] => {
  const body = bytesOf(text)
  return bodyUnits(body).units.map(({ from, to }) => new TextDecoder().decode(body.subarray(from, to)))
}

describe('units', () => {
  test.each<{ name: string; body: string; framing: string; units: readonly string[] }>([
    { name: 'nothing', body: '', framing: 'whole', units: [] },
    { name: 'events', body: 'data: 1\n\ndata: 2\n\n', framing: 'sse', units: ['data: 1\n\n', 'data: 2\n\n'] },
    {
      name: 'CRLF',
      body: 'data: 1\r\n\r\ndata: 2\r\n\r\n',
      framing: 'sse',
      units: ['data: 1\r\n\r\n', 'data: 2\r\n\r\n'],
    },
    { name: 'CR', body: 'data: 1\r\rdata: 2\r\r', framing: 'sse', units: ['data: 1\r\r', 'data: 2\r\r'] },
    { name: 'comments', body: ': a\n\ndata: 1\n\n', framing: 'sse', units: [': a\n\n', 'data: 1\n\n'] },
    {
      name: 'several blank lines',
      body: '\n\ndata: 1\n\n\n\ndata: 2',
      framing: 'sse',
      units: ['\n\ndata: 1\n\n\n\n', 'data: 2'],
    },
    { name: 'several lines', body: 'event: x\ndata: 1\n\n', framing: 'sse', units: ['event: x\ndata: 1\n\n'] },
    { name: 'an unterminated end', body: 'data: 1\n\ndata: 2', framing: 'sse', units: ['data: 1\n\n', 'data: 2'] },
    { name: 'JSON lines', body: '{"a":1}\n{"a":2}\n', framing: 'json-lines', units: ['{"a":1}\n', '{"a":2}\n'] },
    { name: 'one JSON document', body: '{\n"a": 1\n}\n', framing: 'whole', units: ['{\n"a": 1\n}\n'] },
    { name: 'a page', body: '<html>\n\n</html>', framing: 'whole', units: ['<html>\n\n</html>'] },
    { name: 'behind a byte order mark', body: '\ufeffdata: 1\n\n', framing: 'sse', units: ['\ufeffdata: 1\n\n'] },
  ])('$name', ({ body, framing, units }) => {
    expect(bodyUnits(bytesOf(body)).framing).toBe(framing)
    // The decoder takes a byte order mark away.
    expect(unitsOf(body)).toEqual(units.map((unit) => unit.replace('\ufeff', '')))
  })

  test('frames by their length, and a broken one takes the rest', () => {
    const frame = Uint8Array.of(0, 0, 0, 16, ...Array.from({ length: 12 }, () => 7))
    const body = Uint8Array.from([...frame, ...frame, 0, 0, 0, 2, 9])
    expect(bodyUnits(body)).toEqual({
      framing: 'aws-event-stream',
      units: [
        { from: 0, to: 16 },
        { from: 16, to: 32 },
        { from: 32, to: 37 },
      ],
    })
    expect(unitBorders(body)).toEqual([16, 32])
  })

  test('laid end to end they are the body, whatever it is', () => {
    const bytes = fc.array(fc.constantFrom(0, 0x0a, 0x0d, 0x20, 0x3a, 0x7b, 0x7d, 0x41, 0xef), { maxLength: 60 })
    fc.assert(
      fc.property(bytes, (list) => {
        const { units } = bodyUnits(Uint8Array.from(list))
        let at = 0
        for (const { from, to } of units) {
          expect(from).toBe(at)
          expect(to).toBeGreaterThan(from)
          at = to
        }
        expect(at).toBe(list.length)
      }),
      { seed: 20_261_130, numRuns: 2000 },
    )
  })
})
