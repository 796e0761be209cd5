import type { StreamChunk } from '../chunk/chunk.ts'

type ErrorChunk = Extract<StreamChunk, { type: 'error' }>

/** The wire opened more choices than `limits.choices`. Nothing behind this is read. */
export function tooManyChoices(limit: number): ErrorChunk {
  return {
    type: 'error',
    error: {
      code: 'choice_limit_exceeded',
      phase: 'delta',
      retryable: 'no',
      message: `more than ${limit} choices; raise limits.choices if that is what was asked for`,
    },
  }
}

/** A choice made more calls than `limits.callsPerChoice`. Nothing behind this is read. */
export function tooManyCalls(choice: number, limit: number): ErrorChunk {
  return {
    type: 'error',
    error: {
      code: 'call_limit_exceeded',
      phase: 'call',
      retryable: 'no',
      choice,
      message: `choice ${choice} has more than ${limit} tool calls; raise limits.callsPerChoice if that is what was asked for`,
    },
  }
}
