import { utf8Length } from '../json/utf8-length.ts'
import type { JsonObject } from '../json/value.ts'
import { encodeBase64 } from './base64.ts'
import { RECORDING_FORMAT, RECORDING_VERSION } from './recording.ts'
import type {
  BodyForm,
  OtherLine,
  RecordedRead,
  RecordedRequest,
  RecordedResponse,
  RecordingEnd,
  RecordingHead,
  TimingKind,
} from './recording.ts'

/**
 * A line as the writer takes it. A {@link RecordingLine} that was read is one: its number in the file, its offset and its
 * version are counted anew.
 */
export type LineToWrite =
  | HeadToWrite
  | Omit<RecordedRequest, 'line'>
  | Omit<RecordedResponse, 'line'>
  | Omit<RecordedRead, 'line' | 'offset'>
  | Omit<RecordingEnd, 'line'>
  | Omit<OtherLine, 'line'>

/** The first line of an exchange; what is left out has the default of the format. */
export interface HeadToWrite extends Omit<RecordingHead, 'line' | 'version' | 'body' | 'timing'> {
  readonly body?: BodyForm
  readonly timing?: TimingKind
}

/** A running SHA-256: Node's `createHash('sha256')` behind two methods, or anything like it. */
export interface RunningHash {
  update(bytes: Uint8Array): void
  /** Lower-case hex of all bytes so far; called once. */
  hex(): string
}

/** What the writer can't do by itself. */
export interface RecordingWriterOptions {
  /**
   * A fresh SHA-256 for each exchange. With it, end lines say the hash of what was written, and a request body that is too
   * long for a line leaves its hash. Without it, an end line keeps the hash it came with.
   */
  readonly sha256?: () => RunningHash
}

/** Writes lines one by one, in the order in which they came. */
export interface RecordingWriter {
  /**
   * The text of one line, with its line end: whole, so that a file which is only ever appended to with such texts can be
   * read whenever the writer dies. A read of more than {@link MAX_READ_BYTES} becomes several lines of the same time.
   *
   * @throws TypeError for a line that a reader would refuse: out of order, or a time that is no integer or runs backwards
   */
  line(line: LineToWrite): string
}

/** Bytes of one read that fit into one line, whatever they are. */
export const MAX_READ_BYTES: number = 4 * 1024 * 1024

/** Writes `*.stream.jsonl`, line by line; a second `head` begins a second exchange. The opposite of `readRecordings`. */
export function createRecordingWriter(options: RecordingWriterOptions = {}): RecordingWriter {
  return new Writer(options)
}

/** The text of whole recordings, for a rewrite: every line of them is kept, those that are not understood included. */
export function writeRecordings(
  recordings: readonly { readonly lines: readonly LineToWrite[] }[],
  options: RecordingWriterOptions = {},
): string {
  const writer = createRecordingWriter(options)
  return recordings.flatMap(({ lines }) => lines.map((line) => writer.line(line))).join('')
}

/** How far an exchange has come; a line may only follow those before it. */
const STAGES = ['none', 'head', 'req', 'res', 'b', 'end'] as const
type Stage = (typeof STAGES)[number]

class Writer implements RecordingWriter {
  readonly #newHash: RecordingWriterOptions['sha256']
  #hash: RunningHash | undefined
  #stage: Stage = 'none'
  #untimed = false
  #atUs = 0
  #bytes = 0
  #reads = 0

  constructor({ sha256 }: RecordingWriterOptions) {
    this.#newHash = sha256
  }

  line(line: LineToWrite): string {
    switch (line.t) {
      case 'head':
        return this.#head(line)
      case 'req':
        this.#reach('req')
        return textOf({ t: 'req', at: this.#time(line.atUs), ...this.#requestFields(line) }, line.other)
      case 'res': {
        this.#reach('res')
        const { status, headers } = line
        return textOf({ t: 'res', at: this.#time(line.atUs), status, headers }, line.other)
      }
      case 'b':
        this.#reach('b')
        return this.#read(line)
      case 'end':
        this.#reach('end')
        return this.#end(line)
      case 'other':
        if (this.#stage === 'none') throw new TypeError('a recording begins with its head line')
        return textOf({ t: line.type }, line.other)
    }
  }

  #head(head: HeadToWrite): string {
    this.#stage = 'head'
    this.#hash = this.#newHash?.()
    this.#untimed = head.timing === 'none'
    this.#atUs = 0
    this.#bytes = 0
    this.#reads = 0
    const { id, created, by, level, body = 'decoded', contentEncoding, timing = 'exact', provider, api } = head
    return textOf(
      {
        t: 'head',
        format: RECORDING_FORMAT,
        v: RECORDING_VERSION,
        ...defined({ id, created, by, clock: head.other?.['clock'], level, body, contentEncoding }),
        ...(timing !== 'exact' && { timing }),
        ...defined({ provider, api }),
      },
      head.other,
    )
  }

  #requestFields(request: Omit<RecordedRequest, 'line'>): JsonObject {
    const { method, url, headers, body, bodyLength, bodySha256: sha256 } = request
    const fields = { ...defined({ method, url }), headers }
    if (body === undefined) return { ...fields, ...defined({ len: bodyLength, sha256 }) }
    if (body.length <= MAX_READ_BYTES) return { ...fields, len: body.length, ...bytesOf(body), ...defined({ sha256 }) }
    const hash = this.#newHash?.()
    hash?.update(body)
    return {
      ...fields,
      len: body.length,
      ...defined({ sha256: hash?.hex() ?? sha256 }),
      omitted: 'too long for a line',
    }
  }

  #read({ atUs, bytes, other }: Omit<RecordedRead, 'line' | 'offset'>): string {
    const at = this.#time(atUs)
    this.#hash?.update(bytes)
    let text = ''
    let from = 0
    do {
      const piece = bytes.subarray(from, from + MAX_READ_BYTES)
      text += textOf({ t: 'b', at, off: this.#bytes, len: piece.length, ...bytesOf(piece) }, other)
      this.#bytes += piece.length
      this.#reads++
      from += piece.length
    } while (from < bytes.length)
    return text
  }

  #end({ atUs, kind, code, sha256, other }: Omit<RecordingEnd, 'line'>): string {
    return textOf(
      {
        t: 'end',
        at: this.#time(atUs),
        kind,
        ...defined({ code }),
        bytes: this.#bytes,
        reads: this.#reads,
        ...defined({ sha256: this.#hash?.hex() ?? sha256 }),
      },
      other,
    )
  }

  #reach(stage: Stage): void {
    const from = STAGES.indexOf(this.#stage)
    const to = STAGES.indexOf(stage)
    if (from === 0) throw new TypeError('a recording begins with its head line')
    if (this.#stage === 'end') throw new TypeError(`"${stage}" comes after the end line`)
    if (to < from || (to === from && stage !== 'b')) throw new TypeError(`"${stage}" comes after "${this.#stage}"`)
    this.#stage = stage
  }

  #time(atUs: number): number {
    if (!Number.isSafeInteger(atUs) || atUs < 0) throw new TypeError(`atUs is ${atUs}; it must be an integer from 0`)
    if (atUs < this.#atUs && !this.#untimed) {
      throw new TypeError(`atUs is ${atUs}, earlier than ${this.#atUs} of the line before it`)
    }
    this.#atUs = Math.max(atUs, this.#atUs)
    return this.#atUs
  }
}

/** Text where the bytes are UTF-8 by themselves: decoding by the letter loses nothing, so the way back is the same bytes. */
function bytesOf(bytes: Uint8Array): { readonly s: string } | { readonly x: string } {
  try {
    const s = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    // Control characters take six bytes each; base64 is shorter than many of them.
    if (utf8Length(JSON.stringify(s)) <= 2 * bytes.length + 2) return { s }
  } catch {
    // Half a character, or no UTF-8 at all.
  }
  return { x: encodeBase64(bytes) }
}

/** What is interpreted wins over what was kept: a key can stand only once. */
function textOf(fields: JsonObject, other: JsonObject = {}): string {
  return `${JSON.stringify({ ...fields, ...Object.fromEntries(Object.entries(other).filter(([name]) => !Object.hasOwn(fields, name))) })}\n`
}

function defined(fields: Readonly<Record<string, JsonObject[string] | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject
}
