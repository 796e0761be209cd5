/** Shorter arguments come in one piece at many honest servers. */
const WORTH_STREAMING_BYTES = 256
const SILENCE_MS = 1000

/** Watches whether arguments are streamed, or made in silence and sent in one piece at the end (fault F196). */
export class ArgumentArrival {
  readonly #calls = new Map<string, { pieces: number; late: boolean; lastMs: number }>()

  /** Argument bytes of a call came, this long after the last progress of any kind. */
  piece(callId: string, bytes: number, atMs: number, silenceMs: number): void {
    const call = this.#calls.get(callId)
    if (call === undefined) {
      const late = bytes >= WORTH_STREAMING_BYTES && silenceMs >= SILENCE_MS
      this.#calls.set(callId, { pieces: 1, late, lastMs: atMs })
    } else {
      call.pieces++
      call.lastMs = atMs
    }
  }

  /** When the last piece of each call came, in order of the first ones. */
  *lastPieces(): IterableIterator<readonly [callId: string, atMs: number]> {
    for (const [callId, { lastMs }] of this.#calls) yield [callId, lastMs]
  }

  get inOnePiece(): boolean {
    for (const { pieces, late } of this.#calls.values()) if (pieces === 1 && late) return true
    return false
  }
}
