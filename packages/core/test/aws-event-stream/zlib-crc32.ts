import { gzipSync } from 'node:zlib'

/** CRC-32 by somebody else: gzip writes it, little-endian, in front of the length at its end. (Node 20.19 has no `crc32`.) */
export function crc32(bytes: Uint8Array): number {
  const zipped = gzipSync(bytes, { level: 0 })
  return zipped.readUInt32LE(zipped.length - 8)
}
