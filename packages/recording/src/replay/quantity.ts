import { ReplaySyntaxError } from './replay-syntax-error.ts'

/** An integer from 0 in decimal digits. @throws ReplaySyntaxError for anything else */
export function wholeNumber(text: string, what: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value
  throw new ReplaySyntaxError(`"${text}" is no ${what}; it must be an integer from 0`)
}

const UNITS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 }

/** `20ms`, `1.5s`, `2m`, `300us`, or a bare number of milliseconds; in milliseconds. @throws ReplaySyntaxError for anything else */
export function durationMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(us|ms|s|m)?$/.exec(text)
  if (match !== null) return Number(match[1]) * UNITS[match[2] ?? 'ms']!
  throw new ReplaySyntaxError(`"${text}" is no duration; it is written like 20ms, 1.5s or 2m`)
}
