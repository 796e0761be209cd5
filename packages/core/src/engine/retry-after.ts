import { parseHttpDate } from './http-date.ts'

type Headers = readonly (readonly [string, string])[]

/** Longer than any wait; a number that grew beyond all bounds still says "not soon". */
const LONGEST_MS = Number.MAX_SAFE_INTEGER

/**
 * Milliseconds that the headers ask to wait: `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110 §10.2.3, fault F137).
 * Undefined where they say nothing that can be read. Where hops have added their own, the longest wait counts.
 *
 * A date is measured from the answer's own `date`, so that a clock which is off on either side does not matter; without one, from
 * `nowMs` (since 1970).
 */
export function retryAfterOf(headers: Headers, nowMs: number | undefined): number | undefined {
  const exact = longest(valuesOf(headers, 'retry-after-ms').map((value) => quantities(value, 1)))
  if (exact !== undefined) return exact
  return longest(
    valuesOf(headers, 'retry-after').map((value) => quantities(value, 1000) ?? until(value, headers, nowMs)),
  )
}

function valuesOf(headers: Headers, name: string): readonly string[] {
  return headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value.trim())
}

/** Decimal numbers, with a fraction as some servers send it; a header that came twice is a list of them. */
function quantities(text: string, unitMs: number): number | undefined {
  const parts = text.split(',').map((part) => part.trim())
  if (!parts.every((part) => /^\d+(?:\.\d+)?$/.test(part))) return undefined
  return longest(parts.map((part) => Math.min(LONGEST_MS, Number(part) * unitMs)))
}

function until(date: string, headers: Headers, nowMs: number | undefined): number | undefined {
  const sent = valuesOf(headers, 'date').map((value) => parseHttpDate(value, nowMs ?? 0))
  const from = sent.find((atMs) => atMs !== undefined) ?? nowMs
  const to = from === undefined ? undefined : parseHttpDate(date, from)
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from)
}

function longest(waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter((ms) => ms !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}
