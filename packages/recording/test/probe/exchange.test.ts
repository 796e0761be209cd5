import { afterEach, expect, test } from 'vitest'
import { parseFaults } from '../../src/faults/fault-spec.ts'
import { exchange } from '../../src/probe/exchange.ts'
import { startReplayServer } from '../../src/replay/replay-server.ts'
import type { ReplayServer } from '../../src/replay/replay-server.ts'
import { recordingOf } from '../wire.ts'

let server: ReplayServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const READS = ['data: 1\n\n', 'data: 2\n\n', 'data: [DONE]\n\n']

test.each<{ fault: string; kind: string; reads: readonly string[]; timeoutMs?: number }>([
  { fault: '', kind: 'complete', reads: READS },
  { fault: 'cut:fin@9', kind: 'complete', reads: READS.slice(0, 1) },
  { fault: 'cut:no-final-chunk@9', kind: 'cut', reads: READS.slice(0, 1) },
  { fault: 'cut:rst@9', kind: 'reset', reads: READS.slice(0, 1) },
  { fault: 'stay-open', kind: 'timeout', reads: READS, timeoutMs: 300 },
])('what the network did is what is recorded: "$fault" $kind', async ({ fault, kind, reads, timeoutMs = 10_000 }) => {
  server = await startReplayServer({
    recordings: [{ name: 'a', recording: recordingOf(READS) }],
    timing: { kind: 'none' },
    faults: parseFaults(fault),
  })
  const made = await exchange({ url: new URL(server.url), method: 'POST', headers: {}, body: '{}', timeoutMs })
  expect(made.recording.end?.kind).toBe(kind)
  expect(made.recording.reads.map(({ bytes }) => new TextDecoder().decode(bytes)).join('')).toBe(reads.join(''))
  expect(made.recording.response).toMatchObject({ status: 200 })
  expect(made.failure).toBeUndefined()
})

test('no response at all', async () => {
  const gone = await startReplayServer({ recordings: [{ name: 'a', recording: recordingOf(READS) }] })
  await gone.close()
  const made = await exchange({ url: new URL(gone.url), method: 'GET', headers: {}, timeoutMs: 1000 })
  expect(made.recording.response).toBeUndefined()
  expect(made.failure).toBe('ECONNREFUSED')
})

test('an abort is the caller’s', async () => {
  server = await startReplayServer({
    recordings: [{ name: 'a', recording: recordingOf(READS) }],
    faults: parseFaults('stay-open'),
  })
  const abort = new AbortController()
  const made = exchange({
    url: new URL(server.url),
    method: 'GET',
    headers: {},
    timeoutMs: 60_000,
    signal: abort.signal,
  })
  abort.abort(new Error('enough'))
  await expect(made).rejects.toThrow('enough')
})
