import { clip } from 'streamfold/json'
import type { GateVerdict } from '../gate.ts'
import { messageOf } from '../thrown.ts'

/** A gate never throws; if it does, that is a no. */
export async function askGate(question: () => Promise<GateVerdict>): Promise<GateVerdict> {
  try {
    return await question()
  } catch (error) {
    return {
      kind: 'refuse',
      code: 'check_failed',
      phase: 'authorize',
      message: 'the check of this call failed',
      evidence: [{ check: 'permission', outcome: 'fail', detail: clip(messageOf(error), 300) }],
    }
  }
}
