/** How much of an error body is read. */
const ERROR_BODY_BYTES = 64 * 1024

/** The body of a response whose status is not 2xx: read up to a bound, never as an event stream. */
export class ErrorBody {
  readonly #parts: Uint8Array[] = []
  #room = ERROR_BODY_BYTES

  push(bytes: Uint8Array): void {
    if (this.#room <= 0) return
    const part = bytes.slice(0, this.#room)
    this.#parts.push(part)
    this.#room -= part.length
  }

  /** Nothing more of it will be kept. */
  get full(): boolean {
    return this.#room <= 0
  }

  text(): string {
    const decoder = new TextDecoder()
    return this.#parts.map((part) => decoder.decode(part, { stream: true })).join('') + decoder.decode()
  }
}
