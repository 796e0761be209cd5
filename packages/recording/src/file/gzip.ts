import { constants, gunzipSync } from 'node:zlib'

/** More than the engine takes in, so that its own limit speaks first; a compressed file can be a bomb. */
const MAX_INFLATED_BYTES = 1024 * 1024 * 1024

/**
 * The bytes of a file, inflated where they are gzip (RFC 1952), else as they are. A gzip file that was cut gives what is there, like
 * any other cut file.
 *
 * @throws Error with a reason in words for bytes that begin like gzip and can't be inflated, or become more than 1 GiB
 */
export function inflatedBytes(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_INFLATED_BYTES })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`it begins like gzip and can't be inflated: ${why}`, { cause: error })
  }
}
