import { clip } from 'streamfold/json'
import type { GateCheck, GateEvidence } from '../gate.ts'
import { isDecision } from './decision.ts'
import type { Decision } from './decision.ts'
import { Refused } from './refused.ts'

/** What a hook in shadow mode would have decided. It can't stop the call, not even by throwing; only a cancel can. */
export async function shadowAnswer(what: string, answer: () => Promise<unknown>): Promise<GateEvidence> {
  try {
    const said = await answer()
    if (said === undefined) return { check: 'permission', outcome: 'not_applicable', detail: `${what}: no opinion` }
    return shadowEvidence('permission', isDecision(said) ? said.decision : 'deny', what)
  } catch (error) {
    if (error instanceof Refused && error.code === 'cancelled') throw error
    return shadowEvidence('permission', 'deny', error instanceof Refused ? error.detail : what)
  }
}

export function shadowEvidence(check: GateCheck, decision: Decision['decision'], detail: string): GateEvidence {
  return { check, outcome: 'not_applicable', detail: clip(detail, 300), shadow: decision }
}
