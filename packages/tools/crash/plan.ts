import type { ReadyToolCall } from 'streamfold'
import type { Effect } from '../src/define/tool.ts'

/** A model's answer that the workers are given again and again until it is done. */
export interface PlannedRun {
  readonly runId: string
  /**
   * - `resume`: the turn is taken from the ledger, as a conversation does it.
   * - `replay`: the same answer under the same turn, delivered to several workers.
   * - `cancel`: like `resume`, and somebody cancels the run while it is under way.
   */
  readonly kind: 'resume' | 'replay' | 'cancel'
  readonly calls: readonly PlannedCall[]
}

export interface PlannedCall {
  readonly tool: ToolName
  /** Names the deed in the world outside; what is counted there. */
  readonly deed: string
  /** Time the tool takes before and after its deed, in milliseconds. */
  readonly slowMs: number
}

export type ToolName = 'look' | 'put' | 'book' | 'send' | 'pay'

/** What a second run of each tool would do. `send` asks a person; `pay` names its business operation. */
export const EFFECT_OF: Readonly<Record<ToolName, Effect>> = {
  look: 'read',
  put: 'idempotent',
  book: 'queryable',
  send: 'unsafe',
  pay: 'unsafe',
}

const KINDS: readonly {
  readonly kind: PlannedRun['kind']
  readonly tools: readonly ToolName[]
  readonly slow: boolean
}[] = [
  { kind: 'resume', tools: ['look', 'put', 'book', 'pay'], slow: false },
  { kind: 'replay', tools: ['pay', 'pay', 'put'], slow: false },
  { kind: 'resume', tools: ['send', 'book'], slow: false },
  { kind: 'replay', tools: ['pay', 'put', 'book'], slow: true },
  { kind: 'cancel', tools: ['pay', 'put', 'pay', 'book'], slow: true },
  { kind: 'resume', tools: ['book', 'put'], slow: true },
]

/** The n-th run, from 0. Every seventh pays the same bill as the run before it. */
export function plannedRun(at: number, slowMs: number): PlannedRun {
  const { kind, tools, slow } = KINDS[at % KINDS.length] as (typeof KINDS)[number]
  return {
    runId: `run-${at}`,
    kind,
    calls: tools.map((tool, ordinal) => ({
      tool,
      deed: tool === 'pay' && ordinal === 0 && at % 7 === 6 ? deedOf(at - 1, tool, 9) : deedOf(at, tool, ordinal),
      slowMs: slow ? slowMs : 0,
    })),
  }
}

function deedOf(run: number, tool: ToolName, ordinal: number): string {
  return `${tool}-${run}-${ordinal}`
}

export function callsOf(run: PlannedRun): readonly ReadyToolCall[] {
  return run.calls.map(({ tool, deed, slowMs }, ordinal) => {
    const parsedArguments = { deed, slowMs }
    return {
      callId: `call_${ordinal}`,
      ordinal,
      name: tool,
      argumentsText: JSON.stringify(parsedArguments),
      parsedArguments,
    }
  })
}
