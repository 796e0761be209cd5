import { chatCompletions, createStreamEngine } from 'streamfold'
import type { StreamReport } from 'streamfold'
import { expect, test } from 'vitest'
import { describeCuts, SAMPLE_TOOLS, sampleWrites } from '../src/demo/sample-stream.ts'

const utf8 = (text: string): { bytes: Uint8Array; pauseMs: number } => ({
  bytes: new TextEncoder().encode(text),
  pauseMs: 0,
})

function play(reads: readonly Uint8Array[]): StreamReport {
  const engine = createStreamEngine({ adapter: chatCompletions(), request: { tools: SAMPLE_TOOLS, usage: true } })
  for (const bytes of reads) engine.push(bytes)
  engine.end('eof')
  return engine.report()
}

test('the sample is a whole stream without findings, with two released calls', () => {
  const report = play(sampleWrites().map(({ bytes }) => bytes))
  expect(report.outcome).toBe('completed')
  expect(report.diagnostics).toEqual([])
  expect(report.choices[0]).toMatchObject({
    text: '我来看看東京の天気 🌦️ and set a reminder for you, at once. 🚀',
    toolCalls: [
      {
        name: 'get_weather',
        code: null,
        parsedArguments: { place: { city: '東京', at: { lat: 35.68, lon: 139.69 } }, units: ['°C', 'km/h'] },
      },
      {
        name: 'create_reminder',
        code: null,
        parsedArguments: {
          title: 'Pack an umbrella ☂',
          when: { date: '2026-12-01', time: '07:30' },
          tags: ['旅', 'rain'],
        },
      },
    ],
  })
})

test('its cuts change nothing: one read gives the same report', () => {
  const reads = sampleWrites().map(({ bytes }) => bytes)
  expect(play([Buffer.concat(reads)])).toEqual(play(reads))
})

test('it is cut in every way that the demo speaks of, and is over in a few seconds', () => {
  const writes = sampleWrites()
  const [, characters, lineEnds, events, singles] =
    /^(\d+) cuts inside a character, (\d+) between CR and LF, (\d+) events in one write, (\d+) single bytes$/.exec(
      describeCuts(writes),
    ) ?? []
  expect([characters, lineEnds, events, singles].map(Number).every((count) => count >= 2)).toBe(true)
  expect(writes.reduce((sum, { pauseMs }) => sum + pauseMs, 0)).toBeLessThan(4_000)
})

test('cuts are counted from the writes, not claimed', () => {
  expect(describeCuts([utf8('data: a\r\n\r\ndata: b\r\n\r\ndata: c'), utf8('\r'), utf8('\n\r\nd')])).toBe(
    '0 cuts inside a character, 1 between CR and LF, 2 events in one write, 1 single byte',
  )
  const euro = new TextEncoder().encode('€€')
  expect(
    describeCuts([
      { bytes: euro.subarray(0, 2), pauseMs: 0 },
      { bytes: euro.subarray(2), pauseMs: 0 },
      utf8('a\r'),
      utf8('\nb'),
    ]),
  ).toBe('1 cut inside a character, 1 between CR and LF, 0 events in one write, 0 single bytes')
})
