import type { FaultCode, ReportChoice, StreamReport } from 'streamfold'
import type { FaultDefinition } from '../faults/fault-definition.ts'
import { firstDifference } from './difference.ts'
import type { Difference } from './difference.ts'

/** A call that may be run: what it does, not how it was written down or numbered. */
interface RunnableCall {
  readonly name: string | null
  readonly parsedArguments: unknown
}

export interface BrokenPromise {
  readonly message: string
  readonly difference?: Difference
}

/**
 * Holds a stream under a fault against the same stream without it. Whatever the fault, a choice's calls are the same or none may be
 * run; where the fault takes nothing away, everything is the same.
 */
export function brokenPromise(
  without: StreamReport,
  under: StreamReport,
  promise: FaultDefinition['calls'],
  batch: 'all' | 'each',
): BrokenPromise | undefined {
  if (promise === 'same') {
    const difference = firstDifference(contentOf(without), contentOf(under))
    return difference && { message: 'the fault loses nothing, and the result is another one', difference }
  }
  for (const choice of under.choices) {
    const before = runnable(without.choices.find(({ index }) => index === choice.index))
    const after = runnable(choice)
    if (after.length === 0) continue
    const difference =
      batch === 'each' && after.length < before.length
        ? firstDifference(
            before.filter((call) => after.some((other) => firstDifference(call, other) === undefined)),
            after,
          )
        : firstDifference(before, after)
    if (difference === undefined) continue
    const doubted = without.choices.find(({ index }) => index === choice.index)
    if (promise === 'same-or-unproven' && doubted?.toolCalls.some(({ code }) => code !== null)) continue
    const path = `choices[${choice.index}] runnable calls${difference.path}`
    return { message: 'other calls may be run than without the fault', difference: { ...difference, path } }
  }
  return undefined
}

function runnable(choice: ReportChoice | undefined): readonly RunnableCall[] {
  const calls = choice?.toolCalls.filter(({ code }) => code === null) ?? []
  return calls.map(({ name, parsedArguments }) => ({ name, parsedArguments }))
}

/** What a consumer gets, without what depends on how it was framed or when it came. */
function contentOf({ outcome, error, choices, usage }: StreamReport): unknown {
  return {
    outcome,
    error: error?.code ?? null,
    usage,
    choices: choices.map(({ toolCalls, ...choice }) => ({
      ...choice,
      toolCalls: toolCalls.map(({ callId, name, argumentsText, parsedArguments, state, code }) => ({
        callId,
        name,
        argumentsText,
        parsedArguments,
        state,
        code,
      })),
    })),
  }
}

/** What becomes of a stream under a fault in one line: outcome, code, and each call with its state and code. */
export function fateOf({ outcome, error, choices }: StreamReport): string {
  const calls = choices.flatMap(({ index, toolCalls }) =>
    toolCalls.map(({ state, code }, ordinal) => `${index}.${ordinal} ${callFate(state, code)}`),
  )
  return [`${outcome ?? 'open'}${error === null ? '' : ` ${error.code}`}`, ...calls].join('; ')
}

function callFate(state: string, code: FaultCode | null): string {
  return code === null ? 'released' : `${state} ${code}`
}
