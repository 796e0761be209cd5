import { crc32 as zlibCrc32 } from './zlib-crc32.ts'

const encoder = new TextEncoder()

export type HeaderValue = string | boolean | number | bigint | Uint8Array | Date

/** One message of `application/vnd.amazon.eventstream`, written from the description of the format. */
export function message(payload: string | Uint8Array, headers: Readonly<Record<string, HeaderValue>> = {}): Uint8Array {
  const body = typeof payload === 'string' ? encoder.encode(payload) : payload
  return rawMessage(Uint8Array.from(Object.entries(headers).flatMap(([name, value]) => headerBytes(name, value))), body)
}

/** A message around whatever bytes are in the place of its headers. */
export function rawMessage(head: Uint8Array, body: Uint8Array): Uint8Array {
  const total = 12 + head.length + body.length + 4
  const bytes = new Uint8Array(total)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, total)
  view.setUint32(4, head.length)
  view.setUint32(8, zlibCrc32(bytes.subarray(0, 8)))
  bytes.set(head, 12)
  bytes.set(body, 12 + head.length)
  view.setUint32(total - 4, zlibCrc32(bytes.subarray(0, total - 4)))
  return bytes
}

/** A prelude alone, with a good checksum over whatever lengths it claims. */
export function prelude(total: number, headers: number): Uint8Array {
  const bytes = new Uint8Array(12)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, total)
  view.setUint32(4, headers)
  view.setUint32(8, zlibCrc32(bytes.subarray(0, 8)))
  return bytes
}

/** An event as Bedrock's InvokeModelWithResponseStream wraps it. */
export function chunkMessage(event: string): Uint8Array {
  const wrapped = JSON.stringify({ bytes: btoa(String.fromCharCode(...encoder.encode(event))), p: 'abcdef' })
  return message(wrapped, { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' })
}

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}

function headerBytes(name: string, value: HeaderValue): number[] {
  return [name.length, ...encoder.encode(name), ...valueBytes(value)]
}

function valueBytes(value: HeaderValue): number[] {
  if (typeof value === 'boolean') return [value ? 0 : 1]
  if (typeof value === 'number') return [4, ...integer(BigInt(value), 4)]
  if (typeof value === 'bigint') return [5, ...integer(value, 8)]
  if (value instanceof Date) return [8, ...integer(BigInt(value.getTime()), 8)]
  const bytes = typeof value === 'string' ? encoder.encode(value) : value
  return [typeof value === 'string' ? 7 : 6, ...integer(BigInt(bytes.length), 2), ...bytes]
}

function integer(value: bigint, size: number): number[] {
  return Array.from({ length: size }, (_, at) => Number((value >> BigInt(8 * (size - 1 - at))) & 0xffn))
}
