import type { ByteReader } from './byte-source.ts'

/** How long, and for how many bytes, a body that has said its last word is read on for the sake of its connection. */
const LINGER_MS = 100
const LINGER_BYTES = 64 * 1024

/**
 * Lets go of a body whose stream has ended. Nearly always only its closing chunk is missing, and read to the end, the connection can
 * carry the next request; one that stays open or talks on is cut (faults F008, F102). Nobody waits for this.
 */
export async function letGo(reader: ByteReader, abort: () => void): Promise<void> {
  const timer = setTimeout(abort, LINGER_MS)
  try {
    for (let left = LINGER_BYTES; left > 0;) {
      const { done, value } = await reader.read()
      if (done === true || value === undefined) return
      left -= value.length
    }
    abort()
  } catch {
    // Broken or aborted: it is let go all the same, and what the stream said stands.
  } finally {
    clearTimeout(timer)
  }
}
