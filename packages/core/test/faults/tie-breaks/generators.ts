import * as fc from 'fast-check'
import { expect } from 'vitest'
import { typesOf } from '../run.ts'
import type { Run } from '../run.ts'
import { DONE, finish } from '../wire.ts'

/**
 * Where honest dialects contradict each other, one reading was chosen. The tests of this folder try each
 * on both of its sides, over wire text that is made here.
 */

export const CONFIG = { seed: 1_618_033, numRuns: 40 }

export const end = [finish('tool_calls'), DONE]

export const idText = fc.stringMatching(/^[A-Za-z0-9_:.-]{1,12}$/).filter((id) => id !== 'null')
export const nameText = fc.stringMatching(/^[a-z][a-z0-9_]{0,11}$/).filter((name) => name !== 'null')
export const twoIds = fc.tuple(idText, idText).filter(([a, b]) => a !== b)
/** Text of a JSON object with at least one member. */
export const documentText = fc
  .dictionary(
    fc.string({ minLength: 1, maxLength: 6 }),
    fc.oneof(fc.string({ maxLength: 8 }), fc.integer(), fc.boolean(), fc.constant(null)),
    {
      minKeys: 1,
      maxKeys: 4,
    },
  )
  .map((value) => JSON.stringify(value))
  .filter((json) => !json.includes('"__proto__"'))
/** A document and where it is cut in two, so that neither piece is empty. */
export const cutDocument = documentText.chain((json) =>
  fc.record({ json: fc.constant(json), at: fc.integer({ min: 1, max: json.length - 1 }) }),
)
/** A document in pieces of any size. */
export const piecesOfDocument = documentText.chain((json) =>
  fc
    .array(fc.integer({ min: 0, max: json.length }), { maxLength: 6 })
    .map((cuts) => [0, ...cuts.toSorted((a, b) => a - b), json.length])
    .map((at) => at.slice(1).map((to, i) => json.slice(at[i], to))),
)
export const NOTHING = ['', ' ', null, 'null', undefined] as const
export const nothing = fc.constantFrom(...NOTHING)

export const idsOf = ({ report }: Run, choice = 0): readonly string[] =>
  report.choices.find(({ index }) => index === choice)?.toolCalls.map(({ callId }) => callId) ?? []

export function expectNothingReleased(result: Run): void {
  expect(typesOf(result)).not.toContain('tool_call_ready')
  expect(typesOf(result)).not.toContain('tool_batch_ready')
}
