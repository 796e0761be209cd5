import { clip } from '../json/clip.ts'
import type { JsonObject } from '../json/value.ts'
import { LineFields, parseLine } from './line-fields.ts'
import { END_KINDS, RECORDING_FORMAT, RECORDING_VERSION } from './recording.ts'
import type {
  BodyForm,
  CaptureLevel,
  RecordedRead,
  RecordedRequest,
  RecordedResponse,
  Recording,
  RecordingEnd,
  RecordingHead,
  RecordingLine,
  TimingKind,
} from './recording.ts'
import { RecordingError } from './recording-error.ts'
import { splitLines } from './split-lines.ts'
import type { TextLine } from './split-lines.ts'

/** What the reader can't do by itself. */
export interface ReadRecordingsOptions {
  /** SHA-256 in hex of reads laid end to end. Where given, a body is checked against the hash of its end line. */
  readonly sha256?: (reads: readonly Uint8Array[]) => string
}

const LEVELS: readonly CaptureLevel[] = ['socket', 'http-data', 'fetch', 'imported']
const BODY_FORMS: readonly BodyForm[] = ['decoded', 'encoded', 'altered']
const TIMINGS: readonly TimingKind[] = ['exact', 'per-event', 'none']

/** How a writer begins an exchange. Inside a JSON text the quotes would be escaped. */
const HEAD_START = `{"t":"head","format":"${RECORDING_FORMAT}"`

/**
 * Reads `*.stream.jsonl`: one exchange, or several one after another. A line that was being written when the recorder died
 * is left out and its number kept: the last line of the file, without a line end and not whole JSON; or, where files were
 * laid end to end, the piece of a line that runs into the next head. Blank lines mean nothing.
 *
 * @throws RecordingError with the line and the reason, at the first line that can't be trusted
 */
export function readRecordings(source: string | Uint8Array, options: ReadRecordingsOptions = {}): readonly Recording[] {
  const recordings: Recording[] = []
  let exchange: Exchange | undefined
  let tornLine: number | undefined
  let isEmpty = true
  for (const line of splitLines(source)) {
    isEmpty = false
    const { values, torn } = parseUnlessTorn(line)
    if (torn) tornLine = line.number
    if (values === undefined) break
    const fields = new LineFields(values, line.number)
    const type = fields.text('t')
    if (type === undefined) throw fields.invalid('t', 'is missing')
    if (type === 'head') {
      if (exchange !== undefined) recordings.push(exchange.finish(tornLine))
      else if (torn) throw notARecording(line.number)
      tornLine = undefined
      exchange = new Exchange(readHead(fields), options)
    } else if (exchange === undefined) throw notARecording(line.number)
    else exchange.take(type, fields)
  }
  if (isEmpty) throw new RecordingError('not_a_recording', 1, 'the file is empty; a recording begins with a head line')
  if (exchange === undefined) throw notARecording(tornLine ?? 1)
  recordings.push(exchange.finish(tornLine))
  return recordings
}

/**
 * Does the text begin with the head line of a recording? Looks at the first line only, so a file that is a recording but
 * corrupt further on is still told apart from a bare body.
 */
export function looksLikeRecording(source: string | Uint8Array): boolean {
  try {
    for (const { text, number } of splitLines(source)) {
      const values = parseLine(text, number)
      return values['t'] === 'head' && values['format'] === RECORDING_FORMAT
    }
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error
  }
  return false
}

function parseUnlessTorn({ text, number, unterminated }: TextLine): { values?: JsonObject; torn: boolean } {
  try {
    return { values: parseLine(text, number), torn: false }
  } catch (error) {
    const next = text.indexOf(HEAD_START, 1)
    if (next > 0) {
      const rest = parseUnlessTorn({ text: text.slice(next), number, unterminated })
      return { ...rest, torn: true }
    }
    if (unterminated && error instanceof RecordingError) return { torn: true }
    throw error
  }
}

function notARecording(line: number): RecordingError {
  return new RecordingError(
    'not_a_recording',
    line,
    `no head line ({"t":"head","format":"${RECORDING_FORMAT}",…}) comes first`,
  )
}

/** One exchange while its lines are read. */
class Exchange {
  readonly #head: RecordingHead
  readonly #sha256: ReadRecordingsOptions['sha256']
  readonly #lines: RecordingLine[]
  readonly #reads: RecordedRead[] = []
  #request: RecordedRequest | undefined
  #response: RecordedResponse | undefined
  #end: RecordingEnd | undefined
  #bytes = 0
  /** Time of the last line of the exchange itself. */
  #atUs = 0

  constructor(head: RecordingHead, { sha256 }: ReadRecordingsOptions) {
    this.#head = head
    this.#sha256 = sha256
    this.#lines = [head]
  }

  take(type: string, fields: LineFields): void {
    switch (type) {
      case 'req':
        this.#expect(
          'req',
          this.#request === undefined && this.#response === undefined && this.#reads.length === 0,
          fields,
        )
        this.#lines.push((this.#request = this.#readRequest(fields)))
        break
      case 'res':
        this.#expect('res', this.#response === undefined && this.#reads.length === 0, fields)
        this.#lines.push((this.#response = this.#readResponse(fields)))
        break
      case 'b': {
        this.#expect('b', true, fields)
        const read = this.#readRead(fields)
        this.#lines.push(read)
        this.#reads.push(read)
        break
      }
      case 'end':
        this.#expect('end', true, fields)
        this.#lines.push((this.#end = this.#readEnd(fields)))
        break
      default:
        this.#lines.push({ t: 'other', type, line: fields.line, other: {}, ...fields.other() })
    }
  }

  finish(tornLine?: number): Recording {
    return {
      head: this.#head,
      ...(this.#request !== undefined && { request: this.#request }),
      ...(this.#response !== undefined && { response: this.#response }),
      reads: this.#reads,
      ...(this.#end !== undefined && { end: this.#end }),
      lines: this.#lines,
      ...(tornLine !== undefined && { tornLine }),
    }
  }

  #expect(type: string, possible: boolean, { line }: LineFields): void {
    if (this.#end !== undefined) throw new RecordingError('out_of_order', line, `"${type}" comes after the end line`)
    if (!possible) throw new RecordingError('out_of_order', line, `"${type}" comes twice, or after the first read`)
  }

  /** The clock of a recording is monotonic: a line that is earlier than the one before it was moved or changed. */
  #time(fields: LineFields, fallback?: number): number {
    const at = fields.count('at') ?? (this.#head.timing === 'none' ? this.#atUs : fallback)
    if (at === undefined) throw fields.invalid('at', 'is missing')
    if (at < this.#atUs) throw fields.invalid('at', `is ${at}, earlier than ${this.#atUs} of the line before it`)
    this.#atUs = at
    return at
  }

  #readRequest(fields: LineFields): RecordedRequest {
    const method = fields.text('method')
    const url = fields.text('url')
    const headers = fields.headers()
    const atUs = this.#time(fields, 0)
    const body = fields.bytes()
    const length = fields.count('len')
    const sha256 = fields.text('sha256')
    return {
      t: 'req',
      line: fields.line,
      atUs,
      ...(method !== undefined && { method }),
      ...(url !== undefined && { url }),
      headers,
      ...(body !== undefined && { body }),
      ...(length !== undefined && { bodyLength: length }),
      ...(sha256 !== undefined && { bodySha256: sha256 }),
      ...fields.other(),
    }
  }

  #readResponse(fields: LineFields): RecordedResponse {
    const status = fields.count('status')
    if (status === undefined || status < 100 || status > 999) throw fields.invalid('status', 'must be an HTTP status')
    const headers = fields.headers()
    return { t: 'res', line: fields.line, atUs: this.#time(fields), status, headers, ...fields.other() }
  }

  #readRead(fields: LineFields): RecordedRead {
    const atUs = this.#time(fields)
    const offset = fields.count('off')
    if (offset === undefined) throw fields.invalid('off', 'is missing')
    const bytes = fields.bytes()
    if (bytes === undefined) throw fields.invalid('s', 'or "x" is missing')
    if (offset !== this.#bytes) {
      const gap = offset - this.#bytes
      const what =
        gap > 0
          ? `${gap} ${gap === 1 ? 'byte is' : 'bytes are'} missing`
          : `${-gap} ${gap === -1 ? 'byte comes' : 'bytes come'} twice`
      throw new RecordingError('offset_gap', fields.line, `"off" is ${offset} where ${this.#bytes} is due: ${what}`)
    }
    this.#bytes += bytes.length
    return { t: 'b', line: fields.line, atUs, offset, bytes, ...fields.other() }
  }

  #readEnd(fields: LineFields): RecordingEnd {
    const kind = fields.oneOf('kind', END_KINDS)
    if (kind === undefined) throw fields.invalid('kind', 'is missing')
    const atUs = this.#time(fields, this.#atUs)
    const code = fields.text('code')
    const sha256 = fields.text('sha256')
    this.#compare(fields, 'bytes', this.#bytes)
    this.#compare(fields, 'reads', this.#reads.length)
    if (sha256 !== undefined && this.#sha256 !== undefined) {
      const actual = this.#sha256(this.#reads.map(({ bytes }) => bytes))
      if (actual !== sha256.toLowerCase()) {
        const said = `"sha256" is ${clip(sha256, 64)}, that of the reads is ${actual}`
        throw new RecordingError('content_mismatch', fields.line, said)
      }
    }
    return {
      t: 'end',
      line: fields.line,
      atUs,
      kind,
      ...(code !== undefined && { code }),
      ...(sha256 !== undefined && { sha256 }),
      ...fields.other(),
    }
  }

  #compare(fields: LineFields, name: string, actual: number): void {
    const said = fields.count(name)
    if (said === undefined || said === actual) return
    throw new RecordingError('content_mismatch', fields.line, `"${name}" is ${said}, the recording holds ${actual}`)
  }
}

function readHead(fields: LineFields): RecordingHead {
  const { line } = fields
  if (fields.text('format') !== RECORDING_FORMAT) throw notARecording(line)
  const version = fields.count('v')
  if (version === undefined || version === 0) throw fields.invalid('v', 'must be the version of the format')
  if (version > RECORDING_VERSION) {
    const reason = `the recording has version ${version}, this reads up to ${RECORDING_VERSION}; a newer streamfold is needed`
    throw new RecordingError('unsupported_version', line, reason)
  }
  const level = fields.oneOf('level', LEVELS)
  const optional = {
    id: fields.text('id'),
    created: fields.text('created'),
    by: fields.text('by'),
    contentEncoding: fields.text('contentEncoding'),
    provider: fields.text('provider'),
    api: fields.text('api'),
  }
  return {
    t: 'head',
    line,
    version,
    body: fields.oneOf('body', BODY_FORMS) ?? 'decoded',
    timing: fields.oneOf('timing', TIMINGS) ?? 'exact',
    ...(level !== undefined && { level }),
    ...present(optional),
    ...fields.other(),
  }
}

type Present<Fields> = { -readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

function present<Fields extends Readonly<Record<string, unknown>>>(fields: Fields): Present<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>
}
