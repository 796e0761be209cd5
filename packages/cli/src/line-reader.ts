/** A line that is longer than anybody types. */
export class LongLineError extends Error {
  override readonly name = 'LongLineError'
}

const MAX_LINE_CHARS = 1024 * 1024

/** Reads an input line by line, each when it is asked for. */
export class LineReader {
  readonly #reads: AsyncIterator<Uint8Array | string>
  readonly #decoder = new TextDecoder()
  /** A read that somebody stopped waiting for; the next one to ask gets what it brings. */
  #pending: Promise<IteratorResult<Uint8Array | string, unknown>> | undefined
  #text = ''
  #ended = false

  constructor(input: AsyncIterable<Uint8Array | string>) {
    this.#reads = input[Symbol.asyncIterator]()
  }

  /**
   * The next line without its end; `undefined` at the end of the input and when `signal` aborts first.
   * @throws {LongLineError} for more than 1 Mi characters without a line end
   */
  async next(signal: AbortSignal): Promise<string | undefined> {
    for (;;) {
      const line = this.#take()
      if (line !== undefined || this.#ended || signal.aborted) return signal.aborted ? undefined : line
      this.#pending ??= this.#reads.next()
      const read = await unlessAborted(this.#pending, signal)
      if (read === undefined) return undefined
      this.#pending = undefined
      if (read.done === true) {
        this.#ended = true
        this.#text += this.#decoder.decode()
      } else {
        this.#text += typeof read.value === 'string' ? read.value : this.#decoder.decode(read.value, { stream: true })
      }
    }
  }

  /** Lets go of the input: what nobody reads any more must not keep a process alive. */
  close(): void {
    // Not awaited: behind a read that nobody waits for it would never be answered.
    this.#reads.return?.().catch(() => {})
  }

  #take(): string | undefined {
    const end = this.#text.indexOf('\n')
    if (end !== -1) {
      const line = this.#text.slice(0, end)
      this.#text = this.#text.slice(end + 1)
      return line.endsWith('\r') ? line.slice(0, -1) : line
    }
    if (this.#text.length > MAX_LINE_CHARS) {
      throw new LongLineError(`a line of more than ${MAX_LINE_CHARS} characters; lines end with a line feed`)
    }
    if (!this.#ended || this.#text === '') return undefined
    const last = this.#text
    this.#text = ''
    return last
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let onAbort!: () => void
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
