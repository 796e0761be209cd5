import { describe, expect, test } from 'vitest'
import { CALL_STATES, isFinal, mayMove } from '../../src/tool-call/state.ts'
import type { CallState } from '../../src/tool-call/state.ts'

const STATES: readonly CallState[] = [
  'collecting',
  'complete',
  'validated',
  'authorized',
  'executing',
  'succeeded',
  'failed',
]

// Rows go from, columns go to, both in the order above; x is a move that is allowed.
const TABLE: readonly string[] = [
  '.x....x', // collecting
  '..x...x', // complete
  '...x..x', // validated
  '....x.x', // authorized
  '.....xx', // executing
  '.......', // succeeded
  '.......', // failed
]

const moves = STATES.flatMap((from, row) =>
  STATES.map((to, column) => ({ from, to, allowed: TABLE[row]![column] === 'x' })),
)

describe('call states', () => {
  test('are these, in this order', () => {
    expect(CALL_STATES).toEqual(STATES)
  })

  test('all 49 moves are in the table', () => {
    expect(moves).toHaveLength(49)
  })

  test.each(moves)('$from → $to: $allowed', ({ from, to, allowed }) => {
    expect(mayMove(from, to)).toBe(allowed)
  })

  test('succeeded and failed are final, for nothing leads out of them', () => {
    for (const state of STATES) {
      expect(isFinal(state)).toBe(moves.every((move) => move.from !== state || !move.allowed))
    }
    expect(STATES.filter(isFinal)).toEqual(['succeeded', 'failed'])
  })
})
