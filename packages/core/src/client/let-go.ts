import type { ByteReader } from './byte-source.ts'

/** For how many bytes a body is read on behind its end at most. */
const MOST_BYTES = 64 * 1024

/** How long a body that has said its last word is read on for the sake of its connection. */
const LINGER_MS = 100

/** How long a body is read on behind an error that the provider itself told. */
const TRAILING_MS = 1000

/**
 * Reads on behind an error in the stream: what the provider spent on an answer that it broke off comes in its last events, where it
 * comes at all. The reader has the error already; only its end waits for this, until the body ends and not longer than a second.
 */
export async function readTrailing(
  reader: ByteReader,
  take: (bytes: Uint8Array) => void,
  abort: () => void,
): Promise<void> {
  await readOn(reader, TRAILING_MS, take, abort)
}

/**
 * Lets go of a body whose stream has ended. Nearly always only its closing chunk is missing, and read to the end, the connection can
 * carry the next request; one that stays open or talks on is cut (faults F008, F102). Nobody waits for this.
 */
export async function letGo(reader: ByteReader, abort: () => void): Promise<void> {
  try {
    await readOn(reader, LINGER_MS, () => {}, abort)
  } catch {
    // Broken or aborted: it is let go all the same, and what the stream said stands.
  }
}

async function readOn(
  reader: ByteReader,
  forMs: number,
  take: (bytes: Uint8Array) => void,
  abort: () => void,
): Promise<void> {
  const timer = setTimeout(abort, forMs)
  try {
    for (let left = MOST_BYTES; left > 0;) {
      const { done, value } = await reader.read()
      if (done === true || value === undefined) return
      take(value)
      left -= value.length
    }
    abort()
  } finally {
    clearTimeout(timer)
  }
}
