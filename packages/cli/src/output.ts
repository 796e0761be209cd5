import type { Writable } from 'node:stream'

/** What an output needs to know of its stream; a terminal has more to say than a pipe. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/**
 * Writes with backpressure and takes it quietly when the reader goes away (`streamfold inspect … | head`): from then on
 * {@link Output.closed} is true and nothing more is written.
 */
export class Output {
  /** The reader is gone; there is no use in going on. */
  closed = false
  readonly stream: OutputStream
  #failure: Error | undefined

  constructor(stream: OutputStream) {
    this.stream = stream
    // Kept for the life of the process: a pipe reports its end after the write that met it.
    stream.on('error', (error: NodeJS.ErrnoException) => {
      this.closed = true
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') this.#failure = error
    })
  }

  get isTTY(): boolean {
    return this.stream.isTTY === true
  }

  /** Resolves once the stream is ready for more. Rejects on a failure other than a reader that went away. */
  async write(text: string | Uint8Array): Promise<void> {
    if (!this.closed && !this.stream.write(text)) await this.#drained()
    if (this.#failure !== undefined) throw new Error(`the output can't be written: ${this.#failure.message}`)
  }

  #drained(): Promise<void> {
    if (this.closed) return Promise.resolve()
    return new Promise((resolve) => {
      const done = (): void => {
        for (const event of ['drain', 'close', 'error']) this.stream.off(event, done)
        resolve()
      }
      for (const event of ['drain', 'close', 'error']) this.stream.on(event, done)
    })
  }
}
