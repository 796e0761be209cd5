import { RecordingError } from 'streamfold/recording'
import type {
  EndKind,
  HeaderPair,
  RecordedRead,
  RecordedResponse,
  Recording,
  RecordingEnd,
  RecordingHead,
  RecordingLine,
} from 'streamfold/recording'

/** One write of a body. */
export interface ScriptWrite {
  /** Microseconds since the request. */
  readonly atUs: number
  readonly bytes: Uint8Array
}

export interface ScriptHead {
  readonly atUs: number
  readonly status: number
  readonly headers: readonly HeaderPair[]
}

/** As in a recording, or `open`: the body never ends, and whoever reads it has to give up. */
export type ScriptEnd = EndKind | 'open'

/** How the body is put on the wire; bytes and times above are before it. */
export interface ScriptWire {
  /** `close`: the connection's end is the body's end. A number: that content length is announced. Default `chunked`. */
  readonly framing: 'chunked' | 'close' | number
  readonly coding?: 'gzip'
}

/**
 * What a replay sends: a recording taken apart into head, writes and end, so that plans may cut it, timings stretch it and
 * faults change it. Plain data; nothing here does I/O.
 */
export interface ReplayScript {
  /** Absent for a bare body, of which no response is known. */
  readonly head?: ScriptHead
  readonly writes: readonly ScriptWrite[]
  readonly end: { readonly atUs: number; readonly kind: ScriptEnd }
  readonly wire: ScriptWire
  /** False where the recording's times mean nothing. */
  readonly timed: boolean
}

/**
 * The script that sends a recording as it was received. A recording without an end line ends `cut`: its recorder died.
 *
 * @throws RecordingError `body_encoded` for a body that still has its content coding on
 */
export function scriptOf(recording: Recording): ReplayScript {
  const { head, response, reads, end } = recording
  if (head.body === 'encoded') {
    const coding = head.contentEncoding ?? 'a content coding'
    throw new RecordingError('body_encoded', head.line, `the body is recorded with ${coding} on; decode it first`)
  }
  const lastAtUs = reads.at(-1)?.atUs ?? response?.atUs ?? 0
  return {
    ...(response !== undefined && {
      head: { atUs: response.atUs, status: response.status, headers: response.headers },
    }),
    writes: reads.map(({ atUs, bytes }) => ({ atUs, bytes })),
    end: { atUs: end?.atUs ?? lastAtUs, kind: end?.kind ?? 'cut' },
    wire: { framing: 'chunked' },
    timed: head.timing !== 'none',
  }
}

/**
 * The recording that someone makes who receives this script: what the engine plays, and what is kept of a failing run. A body
 * that never ends is one that its reader gave up (`timeout`). Head and request are those of `base`.
 */
export function recordingOfScript(script: ReplayScript, base: Pick<Recording, 'head' | 'request'>): Recording {
  let line = 0
  let offset = 0
  const head: RecordingHead = { ...base.head, line: ++line, timing: script.timed ? base.head.timing : 'none' }
  const request = base.request && { ...base.request, line: ++line }
  const response: RecordedResponse | undefined = script.head && { t: 'res', line: ++line, ...script.head }
  const reads = script.writes.map(({ atUs, bytes }): RecordedRead => {
    const read: RecordedRead = { t: 'b', line: ++line, atUs, offset, bytes }
    offset += bytes.length
    return read
  })
  const kind = script.end.kind === 'open' ? 'timeout' : script.end.kind
  const end: RecordingEnd = { t: 'end', line: ++line, atUs: script.end.atUs, kind }
  const lines: RecordingLine[] = [head, ...(request ? [request] : []), ...(response ? [response] : []), ...reads, end]
  return { head, ...(request && { request }), ...(response && { response }), reads, end, lines }
}

/** A bare body as a recording: one read, no times, a clean end. */
export function recordingOfBody(bytes: Uint8Array, api?: string): Recording {
  const head: RecordingHead = {
    t: 'head',
    line: 1,
    version: 1,
    body: 'decoded',
    timing: 'none',
    ...(api !== undefined && { api }),
  }
  const read: RecordedRead = { t: 'b', line: 2, atUs: 0, offset: 0, bytes }
  const end: RecordingEnd = { t: 'end', line: 3, atUs: 0, kind: 'complete' }
  return { head, reads: [read], end, lines: [head, read, end] }
}

/** All bytes of the body, end to end. */
export function bodyOf({ writes }: Pick<ReplayScript, 'writes'>): Uint8Array {
  if (writes.length === 1) return writes[0]!.bytes
  const body = new Uint8Array(writes.reduce((length, { bytes }) => length + bytes.length, 0))
  let at = 0
  for (const { bytes } of writes) {
    body.set(bytes, at)
    at += bytes.length
  }
  return body
}
