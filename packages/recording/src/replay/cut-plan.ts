import { seededRandom } from '../seeded-random.ts'
import { unitBorders } from './body-units.ts'
import { wholeNumber } from './quantity.ts'
import { ReplaySyntaxError } from './replay-syntax-error.ts'
import { bodyOf } from './replay-script.ts'
import type { ReplayScript, ScriptWrite } from './replay-script.ts'

/** Where a body is cut into writes. */
export type CutPlan =
  /** As it was recorded. */
  | { readonly kind: 'recorded' }
  /** In one piece. */
  | { readonly kind: 'whole' }
  /** One event, line or frame per write. */
  | { readonly kind: 'event' }
  | { readonly kind: 'byte' }
  | { readonly kind: 'size'; readonly bytes: number }
  /** At these offsets of the body, ascending. */
  | { readonly kind: 'at'; readonly offsets: readonly number[] }
  /** At a few random places, the same for the same seed and body. */
  | { readonly kind: 'random'; readonly seed: number }

const KNOWN = 'recorded, whole, event, byte, size:BYTES, at:OFFSET,OFFSET,… and random:SEED'

/** Reads a plan as flags and headers write it. @throws ReplaySyntaxError for one that is not known */
export function parseCutPlan(text: string): CutPlan {
  const [name, value] = split(text.trim())
  if (value === undefined) {
    if (name === 'recorded' || name === 'whole' || name === 'event' || name === 'byte') return { kind: name }
  } else if (name === 'size') {
    const bytes = wholeNumber(value, 'size in bytes')
    if (bytes > 0) return { kind: 'size', bytes }
  } else if (name === 'at') {
    const offsets = value.split(',').map((offset) => wholeNumber(offset.trim(), 'offset'))
    return { kind: 'at', offsets: [...new Set(offsets)].sort((a, b) => a - b) }
  } else if (name === 'random') return { kind: 'random', seed: wholeNumber(value, 'seed') }
  throw new ReplaySyntaxError(`"${text}" is no plan; known are ${KNOWN}`)
}

/** `split@137` is an older spelling of `at:137`. */
function split(text: string): [name: string, value?: string] {
  if (text.startsWith('split@')) return ['at', text.slice('split@'.length)]
  const colon = text.indexOf(':')
  return colon < 0 ? [text] : [text.slice(0, colon), text.slice(colon + 1)]
}

/** The text that {@link parseCutPlan} reads back. */
export function cutPlanText(plan: CutPlan): string {
  switch (plan.kind) {
    case 'size':
      return `size:${plan.bytes}`
    case 'at':
      return `at:${plan.offsets.join(',')}`
    case 'random':
      return `random:${plan.seed}`
    case 'recorded':
    case 'whole':
    case 'event':
    case 'byte':
      return plan.kind
  }
}

const MOST_RANDOM_CUTS = 12

/** Offsets at which a plan cuts this body; undefined for `recorded`, which leaves it as it is. */
export function cutOffsets(plan: CutPlan, body: Uint8Array): readonly number[] | undefined {
  switch (plan.kind) {
    case 'recorded':
      return undefined
    case 'whole':
      return []
    case 'event':
      return unitBorders(body)
    case 'byte':
      return every(1, body.length)
    case 'size':
      return every(plan.bytes, body.length)
    case 'at':
      return plan.offsets.filter((offset) => offset > 0 && offset < body.length)
    case 'random':
      return randomOffsets(plan.seed, body.length)
  }
}

function every(step: number, length: number): readonly number[] {
  const offsets: number[] = []
  for (let offset = step; offset < length; offset += step) offsets.push(offset)
  return offsets
}

function randomOffsets(seed: number, length: number): readonly number[] {
  if (length < 2) return []
  const random = seededRandom(seed)
  const count = 1 + Math.floor(random() * MOST_RANDOM_CUTS)
  const offsets = new Set(Array.from({ length: count }, () => 1 + Math.floor(random() * (length - 1))))
  return [...offsets].sort((a, b) => a - b)
}

/**
 * The script with its body cut as planned, and nowhere else. A piece is sent when its last byte was there, so no piece is early.
 */
export function cutScript(script: ReplayScript, plan: CutPlan): ReplayScript {
  const body = bodyOf(script)
  const offsets = cutOffsets(plan, body)
  if (offsets === undefined) return script
  const writes: ScriptWrite[] = []
  let from = 0
  let read = 0
  let readEnd = script.writes[0]?.bytes.length ?? 0
  for (const to of [...offsets, body.length]) {
    if (to === from) continue
    while (readEnd < to) readEnd += script.writes[++read]!.bytes.length
    writes.push({ atUs: script.writes[read]!.atUs, bytes: body.subarray(from, to) })
    from = to
  }
  return { ...script, writes }
}

/** The script with its writes further cut at these offsets, ascending; a piece keeps the time of its write. */
export function refineScript(script: ReplayScript, offsets: readonly number[]): ReplayScript {
  if (offsets.length === 0) return script
  const writes: ScriptWrite[] = []
  let next = 0
  let offset = 0
  for (const { atUs, bytes } of script.writes) {
    let from = 0
    while (next < offsets.length && offsets[next]! <= offset) next++
    for (; next < offsets.length && offsets[next]! < offset + bytes.length; next++) {
      writes.push({ atUs, bytes: bytes.subarray(from, offsets[next]! - offset) })
      from = offsets[next]! - offset
    }
    writes.push({ atUs, bytes: bytes.subarray(from) })
    offset += bytes.length
  }
  return { ...script, writes }
}
