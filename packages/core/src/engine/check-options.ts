import { ARGUMENT_REPAIRS } from '../chunk/argument-repair.ts'
import type { ArgumentRepair } from '../chunk/argument-repair.ts'
import type { StreamLimits } from '../chunk/limits.ts'
import type { EndCause, StreamEngineOptions } from './stream-engine.ts'

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

const END_CAUSES: Readonly<Record<EndCause, true>> = {
  eof: true,
  cut: true,
  reset: true,
  aborted: true,
  timeout: true,
  error: true,
}

export function checkEndCause(cause: EndCause): void {
  if (!Object.hasOwn(END_CAUSES, cause)) {
    throw new TypeError(`engine.end: unknown cause "${cause}"; known are ${Object.keys(END_CAUSES).join(', ')}`)
  }
}

/** For what is no array of bytes; text has lost its bytes, and offsets are counted in them. */
export function notBytes(given: unknown): TypeError {
  const what = given === null ? 'null' : typeof given === 'object' ? 'another object' : typeof given
  const next =
    typeof given === 'string' ? 'encode text with new TextEncoder().encode(text)' : 'wrap it: new Uint8Array(buffer)'
  return new TypeError(`engine.push takes a Uint8Array, not ${what}; ${next}`)
}

export function checkRepairs(names: readonly ArgumentRepair[]): readonly ArgumentRepair[] {
  for (const name of names) {
    if (!ARGUMENT_REPAIRS.includes(name)) {
      throw new TypeError(`unknown repair "${name}"; known are ${ARGUMENT_REPAIRS.join(', ')}`)
    }
  }
  return names
}
