/** Shorter arguments come in one piece at many honest servers. */
const WORTH_STREAMING_BYTES = 256
const SILENCE_MS = 1000

/** Watches whether arguments are streamed, or made in silence and sent in one piece at the end (fault F196). */
export class ArgumentArrival {
  readonly #calls = new Map<string, { pieces: number; late: boolean }>()

  /** Argument bytes of a call came, this long after the last progress of any kind. */
  piece(callId: string, bytes: number, silenceMs: number): void {
    const call = this.#calls.get(callId)
    if (call === undefined) {
      this.#calls.set(callId, { pieces: 1, late: bytes >= WORTH_STREAMING_BYTES && silenceMs >= SILENCE_MS })
    } else call.pieces++
  }

  get inOnePiece(): boolean {
    for (const { pieces, late } of this.#calls.values()) if (pieces === 1 && late) return true
    return false
  }
}
