import { durationMs } from './quantity.ts'
import { ReplaySyntaxError } from './replay-syntax-error.ts'
import type { ReplayScript } from './replay-script.ts'

/** How much time passes between two things that are sent. */
export type Timing =
  /** As recorded. */
  | { readonly kind: 'original' }
  | { readonly kind: 'none' }
  /** So many times as fast. */
  | { readonly kind: 'faster'; readonly factor: number }
  /** The same before every write. */
  | { readonly kind: 'fixed'; readonly ms: number }
  /** As recorded, but never longer than this. */
  | { readonly kind: 'capped'; readonly ms: number }

/** Reads a timing as flags and headers write it. @throws ReplaySyntaxError for one that is not known */
export function parseTiming(text: string): Timing {
  if (text === 'original' || text === 'none') return { kind: text }
  const factor = /^[x×](\d+(?:\.\d+)?)$/.exec(text)
  if (factor !== null && Number(factor[1]) > 0) return { kind: 'faster', factor: Number(factor[1]) }
  if (text.startsWith('fixed:')) return { kind: 'fixed', ms: durationMs(text.slice('fixed:'.length)) }
  if (text.startsWith('cap:')) return { kind: 'capped', ms: durationMs(text.slice('cap:'.length)) }
  throw new ReplaySyntaxError(`"${text}" is no timing; known are original, none, x4, fixed:20ms and cap:500ms`)
}

/** The script with its pauses changed: before the head, each write and the end. Order and bytes stay. */
export function retime(script: ReplayScript, timing: Timing): ReplayScript {
  if (timing.kind === 'original') return script
  let before = 0
  let at = 0
  const next = (atUs: number): number => {
    const gapUs = atUs - before
    before = atUs
    at += Math.round(pauseUs(gapUs, timing))
    return at
  }
  const head = script.head && { ...script.head, atUs: next(script.head.atUs) }
  const writes = script.writes.map((write) => ({ ...write, atUs: next(write.atUs) }))
  const end = { ...script.end, atUs: timing.kind === 'fixed' ? at : next(script.end.atUs) }
  return { ...script, ...(head && { head }), writes, end }
}

function pauseUs(gapUs: number, timing: Exclude<Timing, { readonly kind: 'original' }>): number {
  switch (timing.kind) {
    case 'none':
      return 0
    case 'faster':
      return gapUs / timing.factor
    case 'fixed':
      return timing.ms * 1000
    case 'capped':
      return Math.min(gapUs, timing.ms * 1000)
  }
}
