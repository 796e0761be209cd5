import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import type { Transform } from 'node:stream'

/** Takes the content coding off a body, read by read, so that each read keeps its time. */
export interface ContentDecoder {
  /** Bytes that were taken and did not come out yet. */
  readonly pendingBytes: number
  push(bytes: Uint8Array, atUs: number): void
  /** No more comes; `done` is called when all that can come out is out. */
  end(done: () => void): void
}

export interface DecoderEvents {
  /** What one read became; never called for a read that gave nothing. */
  readonly read: (bytes: Uint8Array, atUs: number) => void
  /** The body is not what its header says. Nothing comes after it but `done`. */
  readonly failed: (reason: string) => void
}

const FLUSH = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }

/** Undefined for a coding that can't be taken off here. `contentEncoding` is the value of the header, or none. */
export function createContentDecoder(
  contentEncoding: string | undefined,
  events: DecoderEvents,
): ContentDecoder | undefined {
  switch (contentEncoding?.trim().toLowerCase() ?? '') {
    case '':
    case 'identity':
      return { pendingBytes: 0, push: events.read, end: (done) => done() }
    case 'gzip':
    case 'x-gzip':
      return new StreamDecoder(() => createGunzip(FLUSH), events)
    case 'deflate':
      // Meant is zlib, and some servers send it without its frame.
      return new StreamDecoder(
        (first) => ((first & 0x0f) === 8 ? createInflate(FLUSH) : createInflateRaw(FLUSH)),
        events,
      )
    case 'br':
      return new StreamDecoder(
        () =>
          createBrotliDecompress({
            flush: constants.BROTLI_OPERATION_FLUSH,
            finishFlush: constants.BROTLI_OPERATION_FLUSH,
          }),
        events,
      )
    default:
      return undefined
  }
}

class StreamDecoder implements ContentDecoder {
  pendingBytes = 0
  readonly #open: (firstByte: number) => Transform
  readonly #events: DecoderEvents
  #stream: Transform | undefined
  #pieces: Uint8Array[] = []
  #atUs = 0
  #failed = false
  #done: (() => void) | undefined

  constructor(open: (firstByte: number) => Transform, events: DecoderEvents) {
    this.#open = open
    this.#events = events
  }

  push(bytes: Uint8Array, atUs: number): void {
    if (this.#failed || bytes.length === 0) return
    this.#stream ??= this.#start(bytes[0]!)
    this.pendingBytes += bytes.length
    this.#stream.write(bytes, () => {
      this.pendingBytes -= bytes.length
      this.#atUs = atUs
      this.#collect()
      this.#give()
    })
  }

  end(done: () => void): void {
    if (this.#stream === undefined || this.#failed) done()
    else {
      this.#done = done
      this.#stream.end()
    }
  }

  #start(firstByte: number): Transform {
    return this.#open(firstByte)
      .on('readable', () => this.#collect())
      .on('end', () => {
        this.#give()
        this.#done?.()
      })
      .on('error', (error) => {
        this.#failed = true
        this.pendingBytes = 0
        this.#give()
        this.#events.failed(error.message)
        this.#done?.()
      })
  }

  #collect(): void {
    for (;;) {
      const piece = this.#stream?.read() as Uint8Array | null | undefined
      if (piece === null || piece === undefined) return
      this.#pieces.push(piece)
    }
  }

  #give(): void {
    if (this.#pieces.length === 0) return
    const bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#events.read(bytes, this.#atUs)
  }
}
