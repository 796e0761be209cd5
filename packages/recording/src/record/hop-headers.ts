import type { HeaderPair } from 'streamfold/recording'

/** Of one connection, not of the exchange (RFC 9110 §7.6.1); each side of a proxy has its own. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Without what belongs to the connection: the names above and those that `Connection` lists. */
export function endToEnd(headers: readonly HeaderPair[]): readonly HeaderPair[] {
  const listed = headers
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((name) => name.trim().toLowerCase()))
  const dropped = new Set([...HOP_BY_HOP, ...listed])
  return headers.filter(([name]) => !dropped.has(name.toLowerCase()))
}

/** The flat lists of Node and undici as pairs. Bytes of a header are Latin-1. */
export function headerPairs(flat: readonly (string | Buffer)[]): readonly HeaderPair[] {
  const pairs: HeaderPair[] = []
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.push([asText(flat[at]!), asText(flat[at + 1]!)])
  return pairs
}

function asText(value: string | Buffer): string {
  return typeof value === 'string' ? value : value.toString('latin1')
}
