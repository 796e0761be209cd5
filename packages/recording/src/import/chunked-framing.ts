const CR = 0x0d
const LF = 0x0a
/** A size line is short; a longer one is none. */
const MAX_SIZE_LINE = 4096

/** Takes the framing of `Transfer-Encoding: chunked` (RFC 9112 §7.1) off bytes that come in pieces. */
export class ChunkedFraming {
  #state: 'size' | 'data' | 'data-end' | 'trailers' | 'end' = 'size'
  #line = ''
  #left = 0
  /** The last chunk was seen. */
  get complete(): boolean {
    return this.#state === 'end' || this.#state === 'trailers'
  }

  /** The payload of one piece; undefined for bytes that are not in this framing. */
  push(bytes: Uint8Array): Uint8Array | undefined {
    const payload: Uint8Array[] = []
    for (let at = 0; at < bytes.length;) {
      if (this.#state === 'data') {
        const piece = bytes.subarray(at, at + this.#left)
        payload.push(piece)
        at += piece.length
        this.#left -= piece.length
        if (this.#left === 0) this.#state = 'data-end'
        continue
      }
      if (this.#state === 'end') return undefined
      const byte = bytes[at++]!
      if (byte !== LF) {
        if (this.#state === 'data-end' && byte !== CR) return undefined
        this.#line += String.fromCharCode(byte)
        if (this.#line.length > MAX_SIZE_LINE) return undefined
        continue
      }
      if (!this.#endLine()) return undefined
    }
    return Buffer.concat(payload)
  }

  #endLine(): boolean {
    const line = this.#line.replace(/\r$/, '')
    this.#line = ''
    if (this.#state === 'data-end') this.#state = 'size'
    else if (this.#state === 'trailers') {
      if (line === '') this.#state = 'end'
    } else {
      const size = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line)?.[1]
      if (size === undefined) return false
      this.#left = Number.parseInt(size, 16)
      this.#state = this.#left === 0 ? 'trailers' : 'data'
    }
    return true
  }
}
