import type { JsonObject } from 'streamfold'
import type { EndKind, HeaderPair, LineToWrite, TimingKind } from 'streamfold/recording'

/** What could be learnt of one exchange from a foreign file. */
export interface ImportedExchange {
  /** What it was made of, for the head line. */
  readonly source: JsonObject
  readonly timing: TimingKind
  readonly created?: string
  readonly api?: string
  readonly request?: {
    readonly method?: string
    readonly url?: string
    readonly headers: readonly HeaderPair[]
    readonly body?: Uint8Array
    readonly http?: string
  }
  readonly interim?: readonly {
    readonly atUs: number
    readonly status: number
    readonly headers: readonly HeaderPair[]
  }[]
  readonly response?: {
    readonly atUs: number
    readonly status: number
    readonly headers: readonly HeaderPair[]
    readonly reason?: string
    readonly http?: string
  }
  readonly reads: readonly { readonly atUs: number; readonly bytes: Uint8Array }[]
  readonly end?: { readonly atUs: number; readonly kind: EndKind; readonly code?: string }
}

/** The lines of a recording; times are held where they would run backwards. */
export function linesOf(exchange: ImportedExchange): { readonly lines: readonly LineToWrite[] } {
  const { source, timing, created, api, request, interim = [], response, reads, end } = exchange
  let lastUs = 0
  const at = (atUs: number): number => (lastUs = Math.max(lastUs, Math.round(atUs)))
  const lines: LineToWrite[] = [
    {
      t: 'head',
      by: 'streamfold import',
      level: 'imported',
      timing,
      ...(created !== undefined && { created }),
      ...(api !== undefined && { api }),
      other: { source },
    },
  ]
  if (request !== undefined) {
    const { http, ...rest } = request
    lines.push({ t: 'req', atUs: 0, ...rest, ...(http !== undefined && { other: { http } }) })
  }
  for (const { atUs, status, headers } of interim) {
    lines.push({ t: 'other', type: 'info', other: { at: at(atUs), status, headers } })
  }
  if (response !== undefined) {
    const { atUs, status, headers, reason, http } = response
    const other = { ...(reason !== undefined && reason !== '' && { reason }), ...(http !== undefined && { http }) }
    lines.push({ t: 'res', atUs: at(atUs), status, headers, other })
  }
  for (const { atUs, bytes } of reads) lines.push({ t: 'b', atUs: at(atUs), bytes })
  if (end !== undefined) {
    const { atUs, kind, code } = end
    lines.push({ t: 'end', atUs: at(atUs), kind, ...(code !== undefined && { code }) })
  }
  return { lines }
}

/** Times that nobody knows. */
export function untimed(pieces: readonly Uint8Array[]): ImportedExchange['reads'] {
  return pieces.map((bytes) => ({ atUs: 0, bytes }))
}
