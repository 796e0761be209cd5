import { ARGUMENT_REPAIRS } from '../chunk/argument-repair.ts'
import type { ArgumentRepair } from '../chunk/argument-repair.ts'
import type { StreamLimits } from '../chunk/limits.ts'
import type { StreamEngineOptions } from './stream-engine.ts'

/** Options come from callers that may not be typed. @throws TypeError for those that can't work */
export function checkOptions({ adapter, policy, batch }: StreamEngineOptions): void {
  if (typeof adapter?.open !== 'function') {
    throw new TypeError('createStreamEngine: adapter is missing; pass chatCompletions() or another adapter')
  }
  if (policy !== undefined && policy !== 'compat' && policy !== 'strict') {
    throw new TypeError(`createStreamEngine: unknown policy "${String(policy)}"; known are compat and strict`)
  }
  if (batch !== undefined && batch !== 'all' && batch !== 'each') {
    throw new TypeError(`createStreamEngine: unknown batch "${String(batch)}"; known are all and each`)
  }
}

/** Deeper arguments would overflow the stack of whoever walks through them. */
const DEEPEST_JSON = 4096

export function checkLimits(limits: StreamLimits): void {
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value !== 'number' || !(value > 0)) {
      throw new TypeError(`createStreamEngine: limits.${name} must be a number above 0, not ${String(value)}`)
    }
  }
  if (limits.jsonDepth > DEEPEST_JSON) {
    throw new TypeError(`createStreamEngine: limits.jsonDepth can be ${DEEPEST_JSON} at the most`)
  }
}

export function checkRepairs(names: readonly ArgumentRepair[]): readonly ArgumentRepair[] {
  for (const name of names) {
    if (!ARGUMENT_REPAIRS.includes(name)) {
      throw new TypeError(`unknown repair "${name}"; known are ${ARGUMENT_REPAIRS.join(', ')}`)
    }
  }
  return names
}
