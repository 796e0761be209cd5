import type { JsonObject, JsonValue } from 'streamfold'
import { createEventStreamParser } from 'streamfold/sse'
import type { HeaderPair, Recording } from 'streamfold/recording'
import { formatRecordings } from '../file/recording-file.ts'
import { recordedBody } from '../file/recording-report.ts'

const NOT_KNOWN = -1

/**
 * HAR 1.2, one entry per exchange. What HAR has no place for stands in keys of its own: `_chunks` (each read with its time),
 * `_eventSourceMessages` (each event with its time, as browsers' tools write it) and `_streamfold` (the lines of the
 * recording, so that an import gives it back line for line).
 */
export function toHar(recordings: readonly Recording[], version = '0.1.0'): string {
  const log = {
    version: '1.2',
    creator: { name: 'streamfold', version },
    entries: recordings.map(entryOf),
  }
  return `${JSON.stringify({ log }, null, 1)}\n`
}

function entryOf(recording: Recording): JsonObject {
  const { head, request, response, reads, end } = recording
  const body = recordedBody(recording)
  const text = textOf(body)
  const headMs = (response?.atUs ?? 0) / 1000
  const lastUs = end?.atUs ?? reads.at(-1)?.atUs ?? response?.atUs ?? 0
  const receiveMs = Math.max(0, lastUs / 1000 - headMs)
  const created = head.created ?? '1970-01-01T00:00:00.000Z'
  const headers = response?.headers ?? []
  const mimeType = valueOf(headers, 'content-type') ?? 'application/octet-stream'
  return {
    startedDateTime: created,
    time: headMs + receiveMs,
    request: {
      method: request?.method ?? 'GET',
      url: request?.url ?? '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: namesAndValues(request?.headers ?? []),
      queryString: queryOf(request?.url),
      headersSize: NOT_KNOWN,
      bodySize: request?.body?.length ?? request?.bodyLength ?? NOT_KNOWN,
      ...(request?.body !== undefined && {
        postData: {
          mimeType: valueOf(request.headers, 'content-type') ?? '',
          text: Buffer.from(request.body).toString(),
        },
      }),
    },
    response: {
      status: response?.status ?? 0,
      statusText: asText(response?.other?.['reason']),
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: namesAndValues(headers),
      content: {
        size: body.length,
        mimeType,
        ...(text === undefined ? { text: Buffer.from(body).toString('base64'), encoding: 'base64' } : { text }),
      },
      redirectURL: valueOf(headers, 'location') ?? '',
      headersSize: NOT_KNOWN,
      bodySize: NOT_KNOWN,
    },
    cache: {},
    timings: { send: 0, wait: headMs, receive: receiveMs },
    _chunks: reads.map(({ atUs, offset, bytes }) => ({ at: atUs, off: offset, len: bytes.length })),
    ...(/event-stream/i.test(mimeType) && { _eventSourceMessages: messagesOf(recording, Date.parse(created)) }),
    _streamfold: { lines: linesWithoutBytes(recording) },
  }
}

function textOf(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    return undefined
  }
}

function messagesOf({ reads }: Recording, createdMs: number): readonly JsonObject[] {
  const parser = createEventStreamParser()
  return reads.flatMap(({ bytes, atUs }) =>
    parser.push(bytes).map(({ data, event, id }) => ({
      time: (createdMs + atUs / 1000) / 1000,
      eventName: event ?? 'message',
      eventId: id ?? '',
      data,
    })),
  )
}

/** The bytes are in the content already. */
function linesWithoutBytes(recording: Recording): readonly JsonValue[] {
  return formatRecordings([recording])
    .trimEnd()
    .split('\n')
    .map((text) => {
      const line = JSON.parse(text) as JsonObject
      if (line['t'] !== 'b') return line
      return Object.fromEntries(Object.entries(line).filter(([name]) => name !== 's' && name !== 'x'))
    })
}

function namesAndValues(headers: readonly HeaderPair[]): readonly JsonObject[] {
  return headers.map(([name, value]) => ({ name, value }))
}

function queryOf(url: string | undefined): readonly JsonObject[] {
  const query = /\?([^#]*)/.exec(url ?? '')?.[1]
  return query === undefined ? [] : [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }))
}

function valueOf(headers: readonly HeaderPair[], name: string): string | undefined {
  return headers.find(([one]) => one.toLowerCase() === name)?.[1]
}

function asText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
