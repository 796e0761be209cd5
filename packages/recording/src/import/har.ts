import { createEventStreamParser } from 'streamfold/sse'
import { isJsonObject, readStrict } from 'streamfold/json'
import type { JsonObject } from 'streamfold'
import { readRecordings } from 'streamfold/recording'
import type { HeaderPair, LineToWrite } from 'streamfold/recording'
import { counted } from '../counted.ts'
import { bodyPieces } from './body-pieces.ts'
import { ImportError } from './import-error.ts'
import { linesOf, untimed } from './imported-exchange.ts'
import type { ImportedExchange } from './imported-exchange.ts'
import { JsonPlace } from './json-path.ts'

export interface HarOptions {
  /** Which entries, from 0. Default: those that are streams, or go to a path of a known API. */
  readonly entries?: readonly number[]
}

const STREAM_TYPE = /event-stream|ndjson|jsonl|json-seq|amazon\.eventstream/i
const API_PATH =
  /\/(?:chat\/completions|completions|responses|messages|api\/chat|api\/generate)$|:(?:streamGenerateContent|generateContent)$/
const MAX_DEPTH = 200

/** HAR 1.2 as Chrome, Firefox, mitmproxy and others write it, and with what the export here adds. */
export function importHar(
  text: string,
  { entries: wanted }: HarOptions = {},
): readonly { readonly lines: readonly LineToWrite[] }[] {
  const log = new JsonPlace(parse(text), '').at('log')
  const entries = log.at('entries')
  if (entries.value === undefined) throw new ImportError('no HAR: log.entries is missing', { path: 'log.entries' })
  const all = entries.items()
  const chosen = wanted === undefined ? all.filter(isStream) : wanted.map((index) => entryAt(all, index))
  if (chosen.length === 0) {
    const listed = all
      .slice(0, 20)
      .map((entry, index) => `${index} ${entry.at('request').at('method').text() ?? ''} ${urlOf(entry) ?? ''}`)
    throw new ImportError(`no entry of ${all.length} is a stream; name one (--entry N): ${listed.join(', ')}`, {
      path: 'log.entries',
    })
  }
  const creator = log.at('creator').at('name').text()
  return chosen.map((entry) => restored(entry) ?? linesOf(importEntry(entry, creator)))
}

function parse(text: string): JsonObject {
  const result = readStrict(text.replace(/^\ufeff/, ''), { maxDepth: MAX_DEPTH })
  if (!result.ok) {
    const line = text.slice(0, result.offset).split('\n').length
    throw new ImportError(`not JSON: ${result.message}`, { line })
  }
  if (!isJsonObject(result.value)) throw new ImportError('no HAR: it is not a JSON object', { line: 1 })
  return result.value
}

function entryAt(all: readonly JsonPlace[], index: number): JsonPlace {
  const entry = all[index]
  if (entry === undefined)
    throw new ImportError(`there is no entry ${index}; the file has ${all.length}, from 0`, { path: 'log.entries' })
  return entry
}

function urlOf(entry: JsonPlace): string | undefined {
  return entry.at('request').at('url').text()
}

function isStream(entry: JsonPlace): boolean {
  const content = entry.at('response').at('content')
  const path = (urlOf(entry) ?? '').replace(/[?#].*$/s, '')
  return (
    STREAM_TYPE.test(content.at('mimeType').text() ?? '') ||
    entry.at('_eventSourceMessages').value !== undefined ||
    entry.at('_chunks').value !== undefined ||
    API_PATH.test(path)
  )
}

function importEntry(entry: JsonPlace, creator: string | undefined): ImportedExchange {
  const request = entry.at('request')
  const response = entry.at('response')
  const timings = entry.at('timings')
  const created = entry.at('startedDateTime').text()
  const status = response.at('status').number() ?? 0
  const headAtUs = sumMs(timings, ['blocked', 'dns', 'connect', 'send', 'wait']) * 1000
  const endAtUs = headAtUs + sumMs(timings, ['receive']) * 1000
  const body = bytesOf(response.at('content'))
  const { reads, timing, reframed } = readsOf(entry, body, headAtUs, created)
  const sent = request.at('postData').at('text').text()
  const method = request.at('method').text()
  const url = urlOf(entry)
  return {
    source: {
      kind: 'har',
      ...(creator !== undefined && { creator }),
      entry: entry.path,
      ...(reframed && { reframed }),
      ...(body === undefined && !reframed && { bodyMissing: true }),
    },
    timing,
    ...(created !== undefined && !Number.isNaN(Date.parse(created)) && { created: new Date(created).toISOString() }),
    request: {
      ...(method !== undefined && { method }),
      ...(url !== undefined && { url }),
      headers: headersOf(request),
      ...(sent !== undefined && { body: Buffer.from(sent) }),
    },
    // A status of 0 stands for no response at all.
    ...(status >= 100 &&
      status <= 999 && {
        response: {
          atUs: headAtUs,
          status,
          reason: response.at('statusText').text() ?? '',
          headers: headersOf(response),
        },
      }),
    reads,
    end: endOf(response, status, body, Math.max(endAtUs, reads.at(-1)?.atUs ?? 0)),
  }
}

function endOf(
  response: JsonPlace,
  status: number,
  body: Uint8Array | undefined,
  atUs: number,
): NonNullable<ImportedExchange['end']> {
  const error = response.at('_error').text()
  if (error !== undefined && error !== '') {
    const kind = /RESET/i.test(error)
      ? 'reset'
      : /ABORT/i.test(error)
        ? 'aborted'
        : /TIMED_OUT/i.test(error)
          ? 'timeout'
          : 'cut'
    return { atUs, kind, code: error.slice(0, 100) }
  }
  if (status === 0) return { atUs, kind: 'error' }
  return { atUs, kind: body === undefined ? 'cut' : 'complete' }
}

/** -1 is HAR's word for "does not apply". `connect` includes `ssl`. */
function sumMs(timings: JsonPlace, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + Math.max(0, timings.at(name).number() ?? 0), 0)
}

function headersOf(message: JsonPlace): readonly HeaderPair[] {
  return message
    .at('headers')
    .items()
    .map((header): HeaderPair => [header.at('name').text() ?? '', header.at('value').text() ?? ''])
    .filter(([name]) => name !== '' && !name.startsWith(':'))
}

function bytesOf(content: JsonPlace): Uint8Array | undefined {
  const text = content.at('text')
  const value = text.text()
  if (value === undefined) return undefined
  const encoding = content.at('encoding').text()
  if (encoding === undefined || encoding === '') return Buffer.from(value)
  if (encoding !== 'base64') throw content.at('encoding').error(`is "${encoding.slice(0, 40)}"; known is base64`)
  const bytes = Buffer.from(value, 'base64')
  if (bytes.toString('base64').replace(/=+$/, '') !== value.replaceAll(/[\r\n]/g, '').replace(/=+$/, ''))
    throw text.error('is not base64')
  return bytes
}

interface Reads {
  readonly reads: ImportedExchange['reads']
  readonly timing: ImportedExchange['timing']
  readonly reframed?: true
}

/** The best there is: reads as they were, times of events, or the body alone. */
function readsOf(entry: JsonPlace, body: Uint8Array | undefined, headAtUs: number, created: string | undefined): Reads {
  const chunks = entry.at('_chunks')
  if (chunks.value !== undefined && body !== undefined) return { reads: chunksOf(chunks, body), timing: 'exact' }
  const messages = entry.at('_eventSourceMessages').items()
  if (messages.length > 0) {
    const startMs = created === undefined ? NaN : Date.parse(created)
    const timed = messages.map((message) => timedEvent(message, startMs, headAtUs))
    if (body === undefined) {
      return {
        reads: timed.map(({ atUs, text }) => ({ atUs, bytes: Buffer.from(text) })),
        timing: 'per-event',
        reframed: true,
      }
    }
    const matched = matchEvents(body, timed)
    if (matched !== undefined) return { reads: matched, timing: 'per-event' }
  }
  return {
    reads: untimed(bodyPieces(body ?? new Uint8Array())).map(({ bytes }) => ({ atUs: headAtUs, bytes })),
    timing: 'none',
  }
}

function chunksOf(chunks: JsonPlace, body: Uint8Array): ImportedExchange['reads'] {
  let due = 0
  const reads = chunks.items().map((chunk) => {
    const [at, off, len] = ['at', 'off', 'len'].map((name) => chunk.at(name).number())
    if (
      at === undefined ||
      off === undefined ||
      len === undefined ||
      off !== due ||
      len < 0 ||
      off + len > body.length
    ) {
      throw chunk.error(`does not continue the body at ${due}`)
    }
    due += len
    return { atUs: at, bytes: body.subarray(off, off + len) }
  })
  if (due !== body.length) throw chunks.error(`covers ${due} of ${counted(body.length, 'byte')} of the body`)
  return reads
}

interface TimedEvent {
  readonly atUs: number
  readonly data: string
  readonly text: string
}

/** Some write seconds since 1970, some since the request. */
const EPOCH_SECONDS = 1_000_000_000

function timedEvent(message: JsonPlace, startMs: number, headAtUs: number): TimedEvent {
  const time = message.at('time').number()
  const data = message.at('data').text() ?? ''
  const name = message.at('eventName').text() ?? 'message'
  const id = message.at('eventId').text() ?? ''
  const atUs =
    time === undefined
      ? headAtUs
      : time < EPOCH_SECONDS
        ? time * 1e6
        : Number.isNaN(startMs)
          ? headAtUs
          : (time * 1000 - startMs) * 1000
  const fields = [
    ...(name === 'message' || name === '' ? [] : [`event: ${oneLine(name)}`]),
    ...(id === '' ? [] : [`id: ${oneLine(id)}`]),
    ...data.split('\n').map((line) => `data: ${line}`),
  ]
  return { atUs: Math.max(0, atUs), data, text: `${fields.join('\n')}\n\n` }
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, ' ')
}

/** Each event of the body with the time of its message; undefined unless all of them agree. */
function matchEvents(body: Uint8Array, messages: readonly TimedEvent[]): ImportedExchange['reads'] | undefined {
  const parser = createEventStreamParser({ offsets: true })
  const events = [...parser.push(body), ...parser.end()].filter(({ incomplete }) => incomplete !== true)
  if (events.length !== messages.length || events.some(({ data }, index) => data !== messages[index]!.data))
    return undefined
  let from = 0
  return events.map(({ endOffset = 0 }, index) => {
    // What stands between two events came with the second, what follows the last came with it.
    const to = index === events.length - 1 ? body.length : behindLineEnd(body, endOffset)
    const bytes = body.subarray(from, to)
    from = to
    return { atUs: messages[index]!.atUs, bytes }
  })
}

/** The empty line that ends an event is not in its offsets. */
function behindLineEnd(body: Uint8Array, at: number): number {
  if (body[at] === 0x0d) return body[at + 1] === 0x0a ? at + 2 : at + 1
  return body[at] === 0x0a ? at + 1 : at
}

/** An entry that was exported from a recording is that recording again, line for line. */
function restored(entry: JsonPlace): { readonly lines: readonly LineToWrite[] } | undefined {
  const kept = entry.at('_streamfold').at('lines')
  const body = bytesOf(entry.at('response').at('content'))
  if (kept.value === undefined || body === undefined) return undefined
  const text = kept
    .items()
    .map((place) => {
      const line = place.object() ?? {}
      if (line['t'] !== 'b') return JSON.stringify(line)
      const off = place.at('off').number() ?? 0
      const len = place.at('len').number() ?? 0
      return JSON.stringify({ ...line, x: Buffer.from(body.subarray(off, off + len)).toString('base64') })
    })
    .join('\n')
  try {
    const [recording] = readRecordings(text)
    return recording
  } catch (error) {
    throw kept.error(`is no recording: ${error instanceof Error ? error.message : String(error)}`)
  }
}
