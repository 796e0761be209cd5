import { adapterFor, createStreamEngine, streamResponse } from 'streamfold'
import { RecordingError } from 'streamfold/recording'
import { describe, expect, test } from 'vitest'
import { parseFaults } from '../../src/faults/fault-spec.ts'
import { replayResponse } from '../../src/replay/replay-response.ts'
import type { ReplayOptions } from '../../src/replay/prepare.ts'
import { bodyRecording, recordingOf, TWO_CALLS } from '../wire.ts'

async function readsOf(response: Response): Promise<readonly string[]> {
  const reads: string[] = []
  const decoder = new TextDecoder('utf-8', { fatal: false })
  for await (const read of response.body!) reads.push(decoder.decode(read))
  return reads
}

describe('a recording as a Response', () => {
  test('gives one read per write, at once, with the head that was recorded', async () => {
    const response = replayResponse(recordingOf(['data: 1\n', '\n']))
    expect(response.status).toBe(200)
    // What belonged to the recorded connection is not true of this one.
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'text/event-stream',
      'x-request-id': 'req_1',
    })
    expect(await readsOf(response)).toEqual(['data: 1\n', '\n'])
  })

  test('cut at every byte, it gives every byte', async () => {
    const reads = await readsOf(replayResponse(bodyRecording('data: 1\n\n'), { plan: { kind: 'byte' } }))
    expect(reads).toEqual('data: 1\n\n'.split(''))
  })

  test('a bare body gets a content type that fits', () => {
    expect(replayResponse(bodyRecording('data: 1\n\n')).headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(replayResponse(bodyRecording('{"a":1}\n{"a":2}\n')).headers.get('content-type')).toBe('application/x-ndjson')
    expect(replayResponse(bodyRecording('{"a":1}')).headers.get('content-type')).toBe('application/json')
  })

  test.each<{ fault: string; outcome: string; code: string }>([
    { fault: 'cut:fin@50%', outcome: 'incomplete', code: 'incomplete_stream' },
    { fault: 'cut:rst@50%', outcome: 'incomplete', code: 'incomplete_stream' },
    { fault: 'cut:no-final-chunk@50%', outcome: 'incomplete', code: 'incomplete_stream' },
    { fault: 'html:502', outcome: 'failed', code: 'http_error' },
    { fault: 'status:429,3', outcome: 'failed', code: 'rate_limited' },
    { fault: 'inband-error@50%', outcome: 'failed', code: 'upstream_error' },
  ])('under $fault the client of this library ends with $code', async ({ fault, outcome, code }) => {
    const options: ReplayOptions = { faults: parseFaults(fault), api: 'chat_completions' }
    const engine = createStreamEngine({ adapter: adapterFor('chat_completions') })
    const events = []
    for await (const event of streamResponse(engine, () =>
      Promise.resolve(replayResponse(bodyRecording(TWO_CALLS), options)),
    )) {
      events.push(event)
    }
    expect(events.at(-1)).toMatchObject({ type: 'stream_error', outcome, code })
    expect(events.some(({ type }) => type === 'tool_batch_ready')).toBe(false)
  })

  test('a body that stays open can be left', async () => {
    const response = replayResponse(bodyRecording('data: 1\n\n'), { faults: parseFaults('stay-open') })
    const reader = response.body!.getReader()
    expect((await reader.read()).done).toBe(false)
    const waiting = reader.read()
    await reader.cancel()
    expect((await waiting).done).toBe(true)
  })

  test('a body with its content coding on is refused', () => {
    const recording = recordingOf(['x'])
    const head = { ...recording.head, body: 'encoded', contentEncoding: 'gzip' } as const
    expect(() => replayResponse({ ...recording, head })).toThrow(RecordingError)
  })

  test('a status without a body', async () => {
    const recording = recordingOf([])
    const response = replayResponse({ ...recording, response: { ...recording.response!, status: 204 } })
    expect([response.status, await response.text()]).toEqual([204, ''])
  })
})
