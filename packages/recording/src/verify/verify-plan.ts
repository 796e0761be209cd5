import { cutOffsets, cutPlanText, parseCutPlan } from '../replay/cut-plan.ts'
import type { CutPlan } from '../replay/cut-plan.ts'
import { wholeNumber } from '../replay/quantity.ts'
import { ReplaySyntaxError } from '../replay/replay-syntax-error.ts'

/** One plan, or many of a kind: in two pieces cut at each byte in turn; random ones with the seeds `from` to `to`. */
export type VerifyPlan =
  | { readonly kind: 'every-byte' }
  | { readonly kind: 'seeds'; readonly from: number; readonly to: number }
  | { readonly kind: 'one'; readonly plan: CutPlan }

/** Larger bodies are cut around the ends of their lines, and at every so many bytes in between. */
const LARGE_BYTES = 4096
const STRIDE = 13
const AROUND = 8

/**
 * Reads a list of plans: `every-byte`, `random:20` (seeds 1 to 20), `random:7..9` (those seeds), and the plans of a replay but the
 * random one. Offsets of an `at:` plan are separated by `/` here.
 *
 * @throws ReplaySyntaxError for one that is not known
 */
export function parseVerifyPlans(text: string): readonly VerifyPlan[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part): VerifyPlan => {
      if (part === 'every-byte') return { kind: 'every-byte' }
      if (!part.startsWith('random:')) return { kind: 'one', plan: parseCutPlan(part.replaceAll('/', ',')) }
      const [first = '', last] = part.slice('random:'.length).split('..', 2)
      const from = last === undefined ? 1 : wholeNumber(first, 'seed')
      const to = wholeNumber(last ?? first, last === undefined ? 'number of seeds' : 'seed')
      if (to < from) throw new ReplaySyntaxError(`"${part}" names no seed`)
      return { kind: 'seeds', from, to }
    })
}

/** The cuts of each plan for this body, and the text of a plan that makes the same cuts again. */
export function* cutsOf(plans: readonly VerifyPlan[], body: Uint8Array): Generator<PlannedCuts, void, undefined> {
  for (const plan of plans) {
    switch (plan.kind) {
      case 'every-byte':
        for (const offset of twoPieceOffsets(body)) yield { text: `at:${offset}`, cuts: [offset] }
        break
      case 'seeds':
        for (let seed = plan.from; seed <= plan.to; seed++) yield planned({ kind: 'random', seed }, body)
        break
      case 'one':
        yield planned(plan.plan, body)
    }
  }
}

export interface PlannedCuts {
  readonly text: string
  readonly cuts: readonly number[]
}

function planned(plan: CutPlan, body: Uint8Array): PlannedCuts {
  return { text: cutPlanText(plan), cuts: cutOffsets(plan, body) ?? [] }
}

function* twoPieceOffsets(body: Uint8Array): Generator<number, void, undefined> {
  const { length } = body
  let border = -Infinity
  let ahead = 0
  for (let offset = 1; offset < length; offset++) {
    if (isLineEnd(body[offset - 1]!)) border = offset
    if (ahead < offset) ahead = offset
    while (ahead < length && !isLineEnd(body[ahead]!)) ahead++
    const near = offset - border < AROUND || ahead - offset < AROUND
    if (length <= LARGE_BYTES || near || offset % STRIDE === 0) yield offset
  }
}

function isLineEnd(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d
}
