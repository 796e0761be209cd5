import type { HeaderPair } from 'streamfold/recording'

/** A response head as it stands in text. */
export interface ResponseHeadText {
  readonly http: string
  readonly status: number
  readonly reason: string
  readonly headers: readonly HeaderPair[]
}

const STATUS_LINE = /^HTTP\/(\d(?:\.\d)?) +(\d{3})(?: (.*))?$/
const START = 'HTTP/'
/** A head that is longer is none. */
const MAX_HEAD_BYTES = 256 * 1024

/**
 * Splits the heads from what follows them, as `curl -i` writes them: interim responses and, with `-L`, redirects come first.
 * A body without heads has none. Undefined while more bytes are needed to tell.
 */
export function splitHeads(
  bytes: Uint8Array,
  { final = false }: { readonly final?: boolean } = {},
): { readonly heads: readonly ResponseHeadText[]; readonly body: Uint8Array } | undefined {
  const heads: ResponseHeadText[] = []
  let rest = bytes
  for (;;) {
    const start = Buffer.from(rest.subarray(0, START.length)).toString('latin1')
    if (!START.startsWith(start) || (start !== START && final)) return { heads, body: rest }
    if (start !== START) return undefined
    const end = endOfHead(rest)
    if (end === undefined) return final || rest.length > MAX_HEAD_BYTES ? { heads, body: rest } : undefined
    const head = parseHead(Buffer.from(rest.subarray(0, end)).toString('latin1'))
    if (head === undefined) return { heads, body: rest }
    heads.push(head)
    rest = rest.subarray(end)
    if (head.status >= 200 && !isRedirect(head) && !isTunnel(head)) return { heads, body: rest }
  }
}

/** A head without the empty line behind it; undefined for text that is none. */
export function parseHead(text: string): ResponseHeadText | undefined {
  const [first = '', ...lines] = text.split(/\r?\n/).filter((line) => line !== '')
  const [, http, status, reason = ''] = STATUS_LINE.exec(first) ?? []
  if (http === undefined || status === undefined) return undefined
  return { http, status: Number(status), reason, headers: parseHeaderLines(lines) }
}

export function parseHeaderLines(lines: readonly string[]): readonly HeaderPair[] {
  return lines.flatMap((line) => {
    const at = line.indexOf(':', 1)
    return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1).trim()] as const]
  })
}

/** A forward proxy's own word, before the server's. */
function isTunnel({ status, reason }: ResponseHeadText): boolean {
  return status === 200 && /^connection established$/i.test(reason)
}

function isRedirect({ status, headers }: ResponseHeadText): boolean {
  return status >= 300 && status < 400 && headers.some(([name]) => name.toLowerCase() === 'location')
}

/** Offset behind the first empty line. */
function endOfHead(bytes: Uint8Array): number | undefined {
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) {
    if (bytes[at + 1] === 0x0a) return at + 2
    if (bytes[at + 1] === 0x0d && bytes[at + 2] === 0x0a) return at + 3
  }
  return undefined
}
