import type { EndKind } from 'streamfold/recording'
import { counted } from '../counted.ts'
import { ChunkedFraming } from './chunked-framing.ts'
import { decodeReads } from './decode-reads.ts'
import { ImportError } from './import-error.ts'
import type { ImportedExchange } from './imported-exchange.ts'
import { parseHead, parseHeaderLines } from './response-heads.ts'
import type { ResponseHeadText } from './response-heads.ts'

type DumpKind = 'send header' | 'send data' | 'recv header' | 'recv data'

interface Dump {
  readonly kind: DumpKind
  /** Time of day; absent without `--trace-time`. */
  readonly timeUs: number | undefined
  readonly line: number
  readonly bytes: Uint8Array
}

interface Info {
  readonly kind: 'info'
  readonly timeUs: number | undefined
  readonly text: string
}

const DAY_US = 24 * 60 * 60 * 1_000_000
const ENTRY =
  /^(?:(\d\d):(\d\d):(\d\d)\.(\d{6}) )?(?:\[[^\]]*\] )?(== Info: (.*)|(=> Send|<= Recv) (header|data|SSL data), (\d+) bytes \(0x[0-9a-f]+\))$/
/** Offset, then sixteen columns of hex, then the same as text. */
const HEX_LINE = /^([0-9a-f]{4,}): ((?:[0-9a-f]{2} |   ){1,16})/
const OFFSET = /^[0-9a-f]{4,}: /

/**
 * What `curl --trace FILE` writes, with `--trace-time` best: every read with its time. Each request is an exchange.
 *
 * @throws ImportError with the line for text that is no trace, and for `--trace-ascii`, which loses line ends
 */
export async function importCurlTrace(text: string): Promise<readonly ImportedExchange[]> {
  const entries = readEntries(text)
  const exchanges: (Dump | Info)[][] = []
  for (const entry of entries) {
    const begins =
      entry.kind === 'send header' && exchanges.at(-1)?.some(({ kind }) => kind === 'recv header') !== false
    if (begins || exchanges.length === 0) exchanges.push([])
    exchanges.at(-1)!.push(entry)
  }
  const withRequests = exchanges.filter((all) => all.some(({ kind }) => kind !== 'info'))
  if (withRequests.length === 0) throw new ImportError('the trace holds no request and no response')
  // What was said while connecting stands before the first request.
  const tls = entries.some((entry) => entry.kind === 'info' && /SSL connection using|ALPN/.test(entry.text))
  return Promise.all(withRequests.map((all) => importExchange(all, tls)))
}

function readEntries(text: string): readonly (Dump | Info)[] {
  const entries: (Dump | Info)[] = []
  let open:
    | {
        kind: DumpKind | undefined
        timeUs: number | undefined
        line: number
        length: number
        pieces: Uint8Array[]
        have: number
      }
    | undefined
  let days = 0
  let lastUs = 0
  const close = (): void => {
    if (open === undefined) return
    if (open.have !== open.length) {
      throw new ImportError(
        `says ${counted(open.length, 'byte')}, but gives ${open.have}; the trace was cut or changed`,
        {
          line: open.line,
        },
      )
    }
    if (open.kind !== undefined) {
      entries.push({ kind: open.kind, timeUs: open.timeUs, line: open.line, bytes: Buffer.concat(open.pieces) })
    }
    open = undefined
  }
  text.split(/\r?\n/).forEach((content, index) => {
    const line = index + 1
    if (content === '') return
    const entry = ENTRY.exec(content)
    if (entry === null) {
      if (open === undefined) {
        // A message of curl's may have several lines.
        if (entries.length > 0) return
        throw new ImportError('no entry of a curl trace (== Info:, => Send …, <= Recv …)', { line })
      }
      const bytes = hexOf(content, line)
      open.pieces.push(bytes)
      open.have += bytes.length
      return
    }
    close()
    const [, h, m, s, us, , info, way, what, length] = entry
    let timeUs: number | undefined
    if (h !== undefined) {
      const time = ((Number(h) * 60 + Number(m)) * 60 + Number(s)) * 1_000_000 + Number(us)
      if (time + days * DAY_US < lastUs - DAY_US / 2) days++
      timeUs = lastUs = time + days * DAY_US
    }
    if (info !== undefined) entries.push({ kind: 'info', timeUs, text: info })
    else {
      const kind = what === 'SSL data' ? undefined : (`${way === '=> Send' ? 'send' : 'recv'} ${what}` as DumpKind)
      open = { kind, timeUs, line, length: Number(length), pieces: [], have: 0 }
    }
  })
  close()
  return entries
}

function hexOf(content: string, line: number): Uint8Array {
  const hex = HEX_LINE.exec(content)?.[2]
  if (hex !== undefined) return Buffer.from(hex.replaceAll(' ', ''), 'hex')
  const reason = OFFSET.test(content)
    ? 'no hex: this is the output of --trace-ascii, which does not tell line ends apart; use --trace'
    : 'no line of a dump (0000: 48 54 54 50 …)'
  throw new ImportError(reason, { line })
}

async function importExchange(entries: readonly (Dump | Info)[], tls: boolean): Promise<ImportedExchange> {
  const dumps = entries.filter((entry) => entry.kind !== 'info') as readonly Dump[]
  const startUs = dumps.find(({ timeUs }) => timeUs !== undefined)?.timeUs
  const timing = startUs === undefined ? 'none' : 'exact'
  const at = ({ timeUs }: { readonly timeUs: number | undefined }): number =>
    timeUs === undefined || startUs === undefined ? 0 : Math.max(0, timeUs - startUs)
  const request = requestOf(dumps, tls)
  const heads = headsOf(dumps)
  const response = heads.findLast(({ status }) => status >= 200)
  const header = (name: string): string | undefined =>
    response?.headers.find(([one]) => one.toLowerCase() === name)?.[1].toLowerCase()
  const data = dumps.filter(({ kind }) => kind === 'recv data')
  const { reads, complete } = payloadOf(data, header('transfer-encoding')?.includes('chunked') === true, at)
  const length = reads.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const said = header('content-length')
  const whole = complete ?? (said === undefined || request?.method === 'HEAD' || length >= Number(said))
  const infos = entries.filter((entry) => entry.kind === 'info') as readonly Info[]
  return {
    source: { kind: 'curl-trace' },
    timing,
    ...(request !== undefined && { request }),
    interim: heads.filter(({ status }) => status < 200).map((head) => ({ ...head, atUs: at(head) })),
    ...(response !== undefined && { response: { ...response, atUs: at(response) } }),
    reads: await decodeReads(reads, header('content-encoding')),
    end: {
      atUs: at(entries.findLast(({ timeUs }) => timeUs !== undefined) ?? dumps.at(-1)!),
      kind: endOf(infos, whole),
    },
  }
}

function requestOf(dumps: readonly Dump[], tls: boolean): NonNullable<ImportedExchange['request']> | undefined {
  const head = latin1(dumps.filter(({ kind }) => kind === 'send header'))
  const [first = '', ...lines] = head.split('\r\n').filter((line) => line !== '')
  const [, method, target, http] = /^(\S+) (\S+) HTTP\/(\S+)$/.exec(first) ?? []
  if (method === undefined || target === undefined || http === undefined) return undefined
  const headers = parseHeaderLines(lines)
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1]
  const body = Buffer.concat(dumps.filter(({ kind }) => kind === 'send data').map(({ bytes }) => bytes))
  return {
    method,
    url: host === undefined || !target.startsWith('/') ? target : `http${tls ? 's' : ''}://${host}${target}`,
    http,
    headers,
    ...(body.length > 0 && { body }),
  }
}

interface TimedHead extends ResponseHeadText {
  readonly timeUs: number | undefined
}

/** curl writes one entry per header line. */
function headsOf(dumps: readonly Dump[]): readonly TimedHead[] {
  const heads: TimedHead[] = []
  let lines: string[] = []
  let from: Dump | undefined
  for (const dump of dumps) {
    if (dump.kind !== 'recv header') continue
    const text = latin1([dump])
    from ??= dump
    if (/^\r?\n$/.test(text)) {
      const head = parseHead(lines.join(''))
      if (head === undefined) throw new ImportError('no response head (HTTP/1.1 200 …)', { line: from.line })
      heads.push({ ...head, timeUs: dump.timeUs })
      lines = []
      from = undefined
    } else lines.push(text)
  }
  // Lines after the last head are trailers.
  return heads
}

function payloadOf(
  data: readonly Dump[],
  chunked: boolean,
  at: (dump: Dump) => number,
): { readonly reads: ImportedExchange['reads']; readonly complete?: boolean } {
  const plain = data.map((dump) => ({ atUs: at(dump), bytes: dump.bytes }))
  // Some versions of curl take the framing off before they write, and only the bytes tell.
  const size = data[0] === undefined ? undefined : /^[0-9a-f]+[ \t]*(?:;[^\n]*)?\r\n/i.exec(latin1([data[0]]))
  if (!chunked || size === null || size === undefined) return { reads: plain }
  const framing = new ChunkedFraming()
  const reads: { readonly atUs: number; readonly bytes: Uint8Array }[] = []
  for (const dump of data) {
    const bytes = framing.push(dump.bytes)
    if (bytes === undefined) throw new ImportError('the chunked framing of the body breaks here', { line: dump.line })
    if (bytes.length > 0) reads.push({ atUs: at(dump), bytes })
  }
  return { reads, complete: framing.complete }
}

function endOf(infos: readonly Info[], whole: boolean): EndKind {
  const said = (pattern: RegExp): boolean => infos.some(({ text }) => pattern.test(text))
  if (said(/reset by peer/i)) return 'reset'
  if (said(/timed out/i)) return 'timeout'
  if (said(/outstanding read data remaining|end of response with \d+ bytes missing|was not closed cleanly/i))
    return 'cut'
  return whole ? 'complete' : 'cut'
}

function latin1(dumps: readonly Dump[]): string {
  return Buffer.concat(dumps.map(({ bytes }) => bytes)).toString('latin1')
}
