import type { FaultCode, Phase } from 'streamfold'
import type { GateCheck } from '../gate.ts'
import { nameOf } from '../thrown.ts'
import type { BoundedAnswer } from './bounded-answer.ts'

/** Thrown from check to check; caught in one place, where it becomes the verdict. */
export class Refused extends Error {
  readonly check: GateCheck
  readonly code: FaultCode
  readonly phase: Phase
  readonly detail: string

  constructor(check: GateCheck, code: FaultCode, phase: Phase, message: string, detail: string) {
    super(message)
    this.check = check
    this.code = code
    this.phase = phase
    this.detail = detail
  }
}

/** Puts a question to someone else's code; no answer refuses the call. */
export type Ask = <T>(check: GateCheck, phase: Phase, what: string, question: () => T | Promise<T>) => Promise<T>

/** For the model: there is nothing it could do. */
export const CHECK_FAILED_MESSAGE: string =
  'The call was not run: a check before it could not be made. Calling again will not help.'

export async function answerOf<T>(
  answer: Promise<BoundedAnswer<T>>,
  check: GateCheck,
  phase: Phase,
  what: string,
): Promise<T> {
  const given = await answer
  if (given.answered) return given.value
  if (given.why === 'aborted') throw cancelled(check)
  const why = given.why === 'timeout' ? 'did not answer in time' : `threw ${nameOf(given.cause)}`
  throw new Refused(check, 'check_failed', phase, CHECK_FAILED_MESSAGE, `${what} ${why}`)
}

export function cancelled(check: GateCheck): Refused {
  return new Refused(check, 'cancelled', 'authorize', 'The call was not run: the run was cancelled.', 'cancelled')
}
