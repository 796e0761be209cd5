import type { JsonObject, JsonValue } from 'streamfold'

/** References followed for any input. */
const FREE_STEPS = 100_000

/** And for each value in the input. */
const STEPS_PER_VALUE = 50

/**
 * Thrown in the middle of a check. Without references a check costs at most the size of the schema times that of the input; with
 * them, alternatives that go on into alternatives double the work at every level.
 */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork'
}

let input: JsonObject | undefined
let steps = 0
let most = 0

/** Runs one check, which tells of each reference it follows by {@link countStep}. Checks are synchronous, so there is one at a time. */
export function boundedWork<T>(checked: JsonObject, check: () => T): T {
  input = checked
  steps = 0
  most = FREE_STEPS
  try {
    return check()
  } finally {
    input = undefined
  }
}

/** @throws {TooMuchWork} */
export function countStep(): void {
  steps += 1
  if (steps <= most || input === undefined) return
  const allowed = FREE_STEPS + STEPS_PER_VALUE * valuesIn(input)
  if (steps > allowed) throw new TooMuchWork(`more than ${allowed} references were followed`)
  most = allowed
}

function valuesIn(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const member of Object.values(value as JsonObject)) count += valuesIn(member)
  return count
}

/** For a model: what it can do about it. */
export const TOO_MUCH_WORK = {
  path: '',
  expected: 'arguments that take less work to check; nest them less',
} as const
