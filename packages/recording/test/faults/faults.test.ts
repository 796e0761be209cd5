import { adapterFor, createStreamEngine } from 'streamfold'
import type { Api } from 'streamfold'
import { replayInto } from 'streamfold/recording'
import type { Recording } from 'streamfold/recording'
import { describe, expect, test } from 'vitest'
import { applyFaults } from '../../src/faults/apply-faults.ts'
import { FAULTS } from '../../src/faults/catalogue.ts'
import { parseFaults } from '../../src/faults/fault-spec.ts'
import { bodyOf, recordingOfScript, scriptOf } from '../../src/replay/replay-script.ts'
import type { ReplayScript } from '../../src/replay/replay-script.ts'
import { ReplaySyntaxError } from '../../src/replay/replay-syntax-error.ts'
import { fateOf } from '../../src/verify/call-promise.ts'
import { bodyRecording, call, delta, recordingOf, sse, TWO_CALLS } from '../wire.ts'

function fateUnder(
  fault: string,
  recording: Recording = bodyRecording(TWO_CALLS),
  api: Api = 'chat_completions',
): string {
  const { script, missed } = applyFaults(scriptOf(recording), parseFaults(fault), { api })
  if (missed.length > 0) return `missed: ${missed[0]!.reason}`
  const engine = createStreamEngine({ adapter: adapterFor(api) })
  replayInto(engine, recordingOfScript(script, recording))
  return fateOf(engine.report())
}

const SAME = 'completed; 0.0 released; 0.1 released'
const HELD = (code: string): string => `; 0.0 failed ${code}; 0.1 failed ${code}`

/** Decided from what each fault does to a stream of two calls that is right. */
const FATES: Readonly<Record<string, string>> = {
  'cut:fin@call:1.1': `incomplete incomplete_stream${HELD('incomplete_stream')}`,
  'cut:no-final-chunk@call:1.1': `incomplete incomplete_stream${HELD('incomplete_stream')}`,
  'cut:rst@call:1.1': `incomplete incomplete_stream${HELD('incomplete_stream')}`,
  // Behind the end of everything a reset undoes nothing.
  'cut:rst@100%': SAME,
  'content-length:long,5': SAME,
  // The sentinel is lost; the finish reason closed the calls.
  'content-length:short,14': 'degraded; 0.0 released; 0.1 released',
  gzip: SAME,
  'stay-open': SAME,
  'stall:forever@call:1.1': `incomplete incomplete_stream${HELD('incomplete_stream')}`,
  'stall:5s@call:1.1': SAME,
  'delay:1s': SAME,
  'slow:100': SAME,
  'buffer:all': SAME,
  'buffer:100': SAME,
  'buffer:1s': SAME,
  'split-utf8': SAME,
  crlf: SAME,
  cr: SAME,
  bom: SAME,
  'comment-flood:5': SAME,
  'keepalive-data': SAME,
  'no-space': SAME,
  'no-trailing-blank': SAME,
  'html:502': 'failed http_error',
  'html:200': 'failed not_event_stream',
  'json-error:500': 'failed http_error',
  'status:429,2': 'failed rate_limited',
  'wrong-content-type': SAME,
  empty: 'failed empty_stream',
  'inband-error@100%': SAME,
  'no-done': 'degraded; 0.0 released; 0.1 released',
  'double-done': SAME,
  'data-after-done': SAME,
  'id-empty': SAME,
  // Indexes tell the calls apart.
  'id-missing': SAME,
  // Two calls are open, and nothing says which one a fragment continues.
  'index-missing': `failed protocol_conflict${HELD('protocol_conflict')}`,
  'args-object': SAME,
  // Each piece repeats the ones before: an object in an object, whose end is missing.
  'args-cumulative': 'completed; 0.0 failed arguments_incomplete; 0.1 failed arguments_incomplete',
  // Nothing on this wire closes a call but a finish reason that permits it.
  'finish-length': 'truncated; 0.0 failed output_truncated; 0.1 failed output_truncated',
  'crlf+bom+split-utf8': SAME,
}

describe('what becomes of two calls under', () => {
  test.each(Object.entries(FATES))('%s', (fault, fate) => {
    expect(fateUnder(fault)).toBe(fate)
  })

  test('no calls are run that are not the ones that were sent, wherever the fault strikes', () => {
    const body = bodyOf(scriptOf(bodyRecording(TWO_CALLS)))
    const pointed = ['cut:fin', 'cut:rst', 'stall', 'bad-utf8', 'glue', 'inband-error']
    for (const fault of pointed) {
      for (let at = 0; at <= body.length; at += 3) {
        const fate = fateUnder(`${fault}@${at}`)
        if (fate.startsWith('missed')) continue
        const released = fate.match(/\d\.\d released/g) ?? []
        expect([0, 2], `${fault}@${at}: ${fate}`).toContain(released.length)
      }
    }
  })
})

describe('faults of other wire formats', () => {
  const ANTHROPIC = [
    [
      'message_start',
      {
        message: { id: 'm', model: 'x', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
      },
    ],
    ['content_block_start', { index: 0, content_block: { type: 'tool_use', id: 'tool_1', name: 'add', input: {} } }],
    ['content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":' } }],
    ['content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: '1}' } }],
    ['content_block_stop', { index: 0 }],
    ['message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } }],
    ['message_stop', {}],
  ]
    .map(([type, fields]) => `event: ${type as string}\ndata: ${JSON.stringify({ type, ...(fields as object) })}\n\n`)
    .join('')

  test.each<{ fault: string; fate: string }>([
    { fault: 'crlf', fate: 'completed; 0.0 released' },
    { fault: 'no-event-names', fate: 'completed; 0.0 released' },
    { fault: 'inband-error@call:0.1', fate: 'failed upstream_error; 0.0 failed upstream_error' },
    { fault: 'finish-length', fate: 'truncated; 0.0 complete output_truncated' },
    { fault: 'args-object', fate: 'missed: anthropic_messages has no such field' },
  ])('Messages: $fault', ({ fault, fate }) => {
    expect(fateUnder(fault, bodyRecording(ANTHROPIC), 'anthropic_messages')).toBe(fate)
  })
})

function bodyUnder(fault: string, body: string): string {
  const { script, missed } = applyFaults(scriptOf(bodyRecording(body)), parseFaults(fault), { api: 'chat_completions' })
  if (missed.length > 0) return `missed: ${missed[0]!.reason}`
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bodyOf(script))
}

function lines(text: string): readonly string[] {
  return text.split('\n\n')
}

describe('bytes', () => {
  test.each<{ fault: string; body: string; becomes: string }>([
    { fault: 'crlf', body: 'data: 1\n\ndata: 2\r\n\r\n', becomes: 'data: 1\r\n\r\ndata: 2\r\n\r\n' },
    { fault: 'cr', body: 'data: 1\n\n', becomes: 'data: 1\r\r' },
    { fault: 'bom', body: 'data: 1\n\n', becomes: '\ufeffdata: 1\n\n' },
    { fault: 'bom', body: '\ufeffdata: 1\n\n', becomes: 'missed: the body begins with one' },
    {
      fault: 'comment-flood:2',
      body: 'data: 1\n\ndata: 2\n\n',
      becomes: 'data: 1\n\n: keep-alive\n\n: keep-alive\n\ndata: 2\n\n',
    },
    { fault: 'keepalive-data', body: 'data: 1\n\ndata: 2\n\n', becomes: 'data: 1\n\ndata:\n\ndata: 2\n\n' },
    { fault: 'no-space', body: 'id: 7\ndata: 1\n\n', becomes: 'id:7\ndata:1\n\n' },
    { fault: 'no-event-names', body: 'event: x\ndata: 1\n\n', becomes: 'data: 1\n\n' },
    { fault: 'bad-utf8@6', body: 'data: 1\n\n', becomes: 'data: \ufffd\n\n' },
    { fault: 'no-trailing-blank', body: 'data: 1\n\n', becomes: 'data: 1' },
    { fault: 'glue@0', body: 'data: 1\n\ndata: 2\n\n', becomes: 'data: 1\ndata: 2\n\n' },
    { fault: 'strip-prefix', body: 'event: x\ndata: 1\n\n', becomes: '1\n\n' },
    { fault: 'dup-event@event:1', body: 'data: 1\n\ndata: 2\n\n', becomes: 'data: 1\n\ndata: 1\n\ndata: 2\n\n' },
    { fault: 'drop-event@event:1', body: ': c\n\ndata: 1\n\ndata: 2\n\n', becomes: ': c\n\ndata: 2\n\n' },
    { fault: 'reorder:1,3', body: 'data: 1\n\ndata: 2\n\ndata: 3\n\n', becomes: 'data: 3\n\ndata: 2\n\ndata: 1\n\n' },
    { fault: 'reorder@event:1', body: 'data: 1\n\ndata: 2\n\n', becomes: 'data: 2\n\ndata: 1\n\n' },
    { fault: 'cr', body: '{"a":1}', becomes: 'missed: the body is no event stream' },
    { fault: 'glue', body: 'data: 1\n\n', becomes: 'missed: the stream has one event only' },
    { fault: 'cut@99', body: 'data: 1\n\n', becomes: 'missed: the body has 9 bytes' },
    { fault: 'cut@event:2', body: 'data: 1\n\n', becomes: 'missed: the stream has 1 event' },
    { fault: 'cut@time:1s', body: 'data: 1\n\n', becomes: 'missed: the stream was over before 1000 ms' },
    { fault: 'cut@event:1', body: '', becomes: 'missed: the body is empty' },
  ])('$fault: $body', ({ fault, body, becomes }) => {
    expect(bodyUnder(fault, body)).toBe(becomes)
  })

  test('payload faults change what they are about, and no other byte', () => {
    const before = sse(
      delta({ content: 'x' }),
      call(0, '{"a":', 'call_1', 'add'),
      call(0, '1}'),
      delta({}, 'tool_calls'),
      '[DONE]',
    )
    const changed = (fault: string): readonly string[] => {
      const after = lines(bodyUnder(fault, before))
      return lines(before).flatMap((line, i) => (line === after[i] ? [] : [after[i]!]))
    }
    expect(changed('id-empty')).toEqual([expect.stringContaining('"id":""') as string])
    expect(changed('args-object')).toEqual([
      expect.stringContaining('"arguments":{"a":1}') as string,
      expect.stringContaining('"arguments":""') as string,
    ])
    expect(changed('args-cumulative')).toEqual([expect.stringContaining(String.raw`"arguments":"{\"a\":1}"`) as string])
    expect(changed('finish-length')).toEqual([expect.stringContaining('"finish_reason":"length"') as string])
    expect(bodyUnder('sequence-gap', before)).toBe('missed: chat_completions has no such field')
  })

  test('a payload that could not be written down again is left alone', () => {
    const twice =
      'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"index":0,"function":{"arguments":"1"}}]}}]}\n\n'
    expect(bodyUnder('index-missing', twice)).toBe('missed: no event of the stream has the field')
  })
})

function under(fault: string, end: 'complete' | 'timeout' = 'complete'): ReplayScript {
  const recording = recordingOf(['data: 1\n\n', 'data: 2\n\n', 'data: [DONE]\n\n'], { end })
  return applyFaults(scriptOf(recording), parseFaults(fault), { api: 'chat_completions' }).script
}

function times({ head, writes, end }: ReplayScript): readonly number[] {
  return [head!.atUs, ...writes.map(({ atUs }) => atUs), end.atUs].map((us) => us / 1000)
}

describe('times and ends', () => {
  test.each<{ fault: string; ms: readonly number[] }>([
    { fault: 'delay:1s', ms: [1100, 1110, 1120, 1130, 1140] },
    { fault: 'stall:500ms@9', ms: [100, 110, 620, 630, 640] },
    { fault: 'stall:500ms@time:125ms', ms: [100, 110, 120, 630, 640] },
    // Nine bytes at 1000 a second: 9 ms more for each, and nothing overtakes.
    { fault: 'slow:1000', ms: [100, 119, 129, 144, 144] },
    { fault: 'buffer:all', ms: [100, 140, 140, 140, 140] },
    { fault: 'buffer:9', ms: [100, 110, 120, 140, 140] },
    { fault: 'buffer:15ms', ms: [100, 125, 125, 140, 140] },
    { fault: 'cut:fin@9', ms: [100, 110, 110] },
  ])('$fault', ({ fault, ms }) => {
    expect(times(under(fault))).toEqual(ms)
  })

  test('a recording that a timer ended keeps its times', () => {
    expect(times(under('buffer:all', 'timeout'))).toEqual(times(under('', 'timeout')))
    expect(times(under('slow:10', 'timeout'))).toEqual(times(under('', 'timeout')))
  })

  test.each<{ fault: string; kind: string; framing?: unknown }>([
    { fault: 'cut:fin@9', kind: 'complete' },
    { fault: 'cut:no-final-chunk@9', kind: 'cut' },
    { fault: 'cut:rst@9', kind: 'reset' },
    { fault: 'stall@9', kind: 'open' },
    { fault: 'stay-open', kind: 'open' },
    { fault: 'content-length:short,4', kind: 'complete', framing: 28 },
    { fault: 'content-length:long,4', kind: 'cut', framing: 36 },
  ])('$fault ends $kind', ({ fault, kind, framing = 'chunked' }) => {
    const { end, wire } = under(fault)
    expect([end.kind, wire.framing]).toEqual([kind, framing])
  })
})

function whichOf(text: string, seed: number): readonly string[] {
  return applyFaults(scriptOf(bodyRecording('data: 1\n\n')), parseFaults(text), { seed }).applied.map((one) => one.text)
}

describe('several faults', () => {
  test('come one after another, each by the offsets that the ones before it left', () => {
    const { script, applied } = applyFaults(scriptOf(bodyRecording('data: 1\n\n')), parseFaults('bom+cut:fin@4'))
    expect([...bodyOf(script)]).toEqual([0xef, 0xbb, 0xbf, 0x64])
    expect(applied).toEqual([
      { text: 'bom', faults: ['F006'] },
      { text: 'cut:fin@4', faults: ['F095', 'F002'] },
    ])
  })

  test('a probability does not shift those of the others', () => {
    for (let seed = 0; seed < 30; seed++) {
      expect(whichOf('bom@p:0.5', seed)).toEqual(
        whichOf('bom@p:0.5+crlf@p:0.5', seed).filter((text) => text.startsWith('bom')),
      )
    }
  })

  test.each(['flood', 'cut:sideways', 'content-length:wide', 'slow:x', 'stall:soon', 'html:x'])(
    '"%s" is refused',
    (fault) => {
      expect(() => applyFaults(scriptOf(bodyRecording('data: 1\n\n')), parseFaults(fault))).toThrow(ReplaySyntaxError)
    },
  )

  test('what needs the wire format says so where it is not known', () => {
    const { missed } = applyFaults(scriptOf(bodyRecording('data: 1\n\n')), parseFaults('no-done'))
    expect(missed).toEqual([{ text: 'no-done', reason: 'the wire format of the recording is not known; name it' }])
  })

  test('every fault is in the table above, or in one of the lists of bytes', () => {
    const named = new Set(Object.keys(FATES).flatMap((text) => parseFaults(text).map(({ name }) => name)))
    const elsewhere = [
      'no-event-names',
      'bad-utf8',
      'glue',
      'strip-prefix',
      'dup-event',
      'dup-read',
      'drop-event',
      'reorder',
      'inband-error',
      'index-zero',
      'sequence-gap',
    ]
    expect([...FAULTS.keys()].filter((name) => !named.has(name) && !elsewhere.includes(name))).toEqual([])
  })
})
