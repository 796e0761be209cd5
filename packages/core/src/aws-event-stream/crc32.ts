const TABLE: Uint32Array = buildTable()

/** CRC-32 (IEEE 802.3) of a part of `bytes`; pass an earlier result to go on from it. */
export function crc32(bytes: Uint8Array, start: number, end: number, previous = 0): number {
  let crc = ~previous
  for (let i = start; i < end; i++) crc = TABLE[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8)
  return ~crc >>> 0
}

function buildTable(): Uint32Array {
  const table = new Uint32Array(256)
  for (let n = 0; n < 256; n++) {
    let c = n
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
    table[n] = c
  }
  return table
}
