import { counted } from '../report-text/quantities.ts'

/** How the writes of the sample server cut an event. */
type Cut = 'whole' | 'inside-character' | 'inside-line-end' | 'with-next' | 'byte-by-byte'

export interface TimedWrite {
  readonly bytes: Uint8Array
  /** Pause after the write, so that it travels alone and can be watched. */
  readonly pauseMs: number
}

export const SAMPLE_TOOLS: readonly string[] = ['get_weather', 'create_reminder']

const EVENT_PAUSE_MS = 70
const BYTE_PAUSE_MS = 3

function chunk(fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({
    id: 'chatcmpl-demo',
    object: 'chat.completion.chunk',
    created: 1_796_000_000,
    model: 'demo-1',
    ...fields,
  })
}

function delta(content: Readonly<Record<string, unknown>>, finishReason: string | null = null): string {
  return chunk({ choices: [{ index: 0, delta: content, finish_reason: finishReason }] })
}

const text = (content: string): string => delta({ content })
const callStart = (index: number, id: string, name: string): string =>
  delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
const callArguments = (index: number, piece: string): string =>
  delta({ tool_calls: [{ index, function: { arguments: piece } }] })

/** Text with wide characters, two calls at once whose pieces are interleaved, usage, and the terminal signal. */
const EVENTS: readonly (readonly [data: string, cut: Cut])[] = [
  [delta({ role: 'assistant', content: '' }), 'whole'],
  [text('我来看看'), 'inside-character'],
  [text('東京の天気 '), 'inside-line-end'],
  [text('🌦️ and set '), 'inside-character'],
  [text('a '), 'with-next'],
  [text('reminder '), 'with-next'],
  [text('for you, '), 'whole'],
  [text('at once. 🚀'), 'byte-by-byte'],
  [callStart(0, 'call_weather', 'get_weather'), 'whole'],
  [callArguments(0, '{"place":{"city":"東'), 'inside-character'],
  [callStart(1, 'call_reminder', 'create_reminder'), 'inside-line-end'],
  [callArguments(1, '{"title":"Pack an umbrella \\'), 'with-next'],
  [callArguments(0, '京","at":{"lat":35.68,'), 'inside-character'],
  [callArguments(1, 'u2602","when":{"date":"2026-12-01",'), 'whole'],
  [callArguments(0, '"lon":139.69}},"units":["°C",'), 'byte-by-byte'],
  [callArguments(1, '"time":"07:30"},"tags":["旅"'), 'inside-line-end'],
  [callArguments(0, '"km/h"]}'), 'whole'],
  [callArguments(1, ',"rain"]}'), 'whole'],
  [delta({}, 'tool_calls'), 'whole'],
  [chunk({ choices: [], usage: { prompt_tokens: 92, completion_tokens: 61, total_tokens: 153 } }), 'inside-line-end'],
  ['[DONE]', 'inside-line-end'],
]

/** The sample as the server writes it. */
export function sampleWrites(): readonly TimedWrite[] {
  const writes: TimedWrite[] = []
  const encoder = new TextEncoder()
  let waiting = ''
  for (const [data, cut] of EVENTS) {
    const bytes = encoder.encode(`${waiting}data: ${data}\r\n\r\n`)
    if (cut === 'with-next') {
      waiting += `data: ${data}\r\n\r\n`
      continue
    }
    waiting = ''
    const pieces = piecesOf(bytes, cut)
    const pauseMs = cut === 'byte-by-byte' ? BYTE_PAUSE_MS : EVENT_PAUSE_MS / pieces.length
    for (const piece of pieces) writes.push({ bytes: piece, pauseMs })
  }
  return writes
}

function piecesOf(bytes: Uint8Array, cut: Cut): readonly Uint8Array[] {
  if (cut === 'whole' || cut === 'with-next') return [bytes]
  if (cut === 'byte-by-byte') return Array.from(bytes, (_, i) => bytes.subarray(i, i + 1))
  // After the first byte of a character that takes several, or after the CR of the event's last line end but one.
  const at = cut === 'inside-character' ? bytes.findIndex((byte) => byte >= 0xc0) + 1 : bytes.length - 3
  return [bytes.subarray(0, at), bytes.subarray(at)]
}

/** How the writes cut the stream, counted from the writes themselves. */
export function describeCuts(writes: readonly TimedWrite[]): string {
  let characters = 0
  let lineEnds = 0
  let singles = 0
  let most = 0
  let before = 0
  for (const { bytes } of writes) {
    const first = bytes[0]!
    if (bytes.length === 1) singles++
    else {
      if (first >= 0x80 && first < 0xc0) characters++
      if (first === 0x0a && before === 0x0d) lineEnds++
    }
    most = Math.max(most, new TextDecoder().decode(bytes).split('\r\n\r\n').length - 1)
    before = bytes.at(-1)!
  }
  return `${counted(characters, 'cut')} inside a character, ${lineEnds} between CR and LF, ${counted(most, 'event')} in one write, ${counted(singles, 'single byte')}`
}
