import type { StreamSnapshot } from '../accumulate/snapshot.ts'
import type { Evidence } from '../adapters/adapter.ts'
import type { FaultCode, Phase } from '../chunk/fault.ts'
import type { StreamChunk } from '../chunk/chunk.ts'
import type { FinishReason } from '../chunk/finish-reason.ts'
import type { Outcome } from '../chunk/outcome.ts'
import type { FinishSummary, StreamEvent } from '../chunk/stream-event.ts'
import type { BatchDecision, ToolCallMachine } from '../tool-call/machine.ts'
import { judgeChoice, worstOutcome } from './outcome.ts'
import type { ChoiceVerdict, Policy } from './outcome.ts'
import type { ChoicePhase } from './report.ts'

type Finish = Extract<StreamChunk, { type: 'finish' }>

/** How one choice stands. */
export interface ChoiceState {
  readonly index: number
  finish: { readonly reason: FinishReason; readonly raw: string | null } | undefined
  verdict: ChoiceVerdict | undefined
  phase: ChoicePhase
}

/** What is known about the stream as a whole when its choices are judged. */
export interface StreamEvidence {
  readonly terminal: boolean
  readonly terminalRequired: Evidence
  readonly finishRequired: Evidence
  readonly cleanEnd: boolean
  readonly skipped: boolean
  readonly policy: Policy
}

/** The choices of a response: their finish, their verdict and what became of their calls. */
export class ChoiceBoard {
  readonly #choices = new Map<number, ChoiceState>()

  get size(): number {
    return this.#choices.size
  }

  get(index: number): ChoiceState {
    let state = this.#choices.get(index)
    if (state === undefined) {
      state = { index, finish: undefined, verdict: undefined, phase: 'streaming' }
      this.#choices.set(index, state)
    }
    return state
  }

  /** In index order. */
  list(): readonly ChoiceState[] {
    return [...this.#choices.values()].sort((a, b) => a.index - b.index)
  }

  finishes(): readonly FinishSummary[] {
    return this.list().map(({ index, finish }) => ({
      choice: index,
      reason: finish?.reason ?? null,
      raw: finish?.raw ?? null,
    }))
  }

  /** Judges every choice by what it holds and gives the worst outcome. */
  judge(snapshot: StreamSnapshot, stream: StreamEvidence, calls: ToolCallMachine): Outcome {
    for (const state of this.list()) {
      const { index } = state
      const blocks = snapshot.choices.find((choice) => choice.index === index)?.blocks ?? []
      state.verdict = judgeChoice({
        ...stream,
        finish: state.finish?.reason ?? null,
        repaired: calls.isRepaired(index),
        // Media and the like have no text, and are content all the same.
        hasText: blocks.some(
          (block) =>
            block.type === 'opaque' || ((block.type === 'text' || block.type === 'refusal') && block.text !== ''),
        ),
        hasRefusal: blocks.some((block) => block.type === 'refusal' && block.text !== ''),
        hasCalls: blocks.some((block) => block.type === 'tool-call'),
      })
    }
    return worstOutcome(this.list().map(({ verdict }) => verdict?.outcome ?? 'incomplete'))
  }

  /** Carries out the verdicts: releases, holds or refuses the calls of each choice. */
  settle(calls: ToolCallMachine, batch: 'all' | 'each', tokensSpent: boolean, out: StreamEvent[]): void {
    for (const state of this.list()) {
      const verdict = state.verdict!
      const phase = calls.settle(state.index, decisionOf(state, batch, tokensSpent), out)
      state.phase = phase ?? (verdict.calls === 'refuse' ? 'failed' : 'closed')
    }
  }

  /** After the fault that ended the stream, the wire also closed the choice: its own word is kept, and changes nothing. */
  closeAfterFault({ choice = 0, reason, raw = null }: Finish, outcome: Outcome, code: FaultCode): void {
    const state = this.get(choice)
    state.finish ??= { reason, raw }
    state.verdict ??= { outcome, code, calls: 'refuse' }
    state.phase = 'failed'
  }

  /** The stream failed: no call of any choice is run. A choice that was judged before keeps its own verdict. */
  refuse(outcome: Outcome, code: FaultCode, phase: Phase, calls: ToolCallMachine, out: StreamEvent[]): void {
    const message = `the stream ended with ${code}, so this call is not run`
    for (const state of this.list()) {
      state.verdict ??= { outcome, code, calls: 'refuse' }
      calls.settle(state.index, { kind: 'refuse', code, phase, message }, out)
      state.phase = 'failed'
    }
  }
}

export const REFUSALS: Partial<Readonly<Record<FaultCode, string>>> = {
  output_truncated: 'the answer was cut at the token limit; raise the limit or ask for less',
  output_refused: 'the answer was refused or filtered, so none of its calls is run',
}

function decisionOf(state: ChoiceState, batch: 'all' | 'each', tokensSpent: boolean): BatchDecision {
  const verdict = state.verdict!
  switch (verdict.calls) {
    case 'hold':
      return { kind: 'hold', code: verdict.code! }
    case 'refuse': {
      const code = verdict.code!
      return { kind: 'refuse', code, phase: 'call', message: REFUSALS[code] ?? 'the response did not end well' }
    }
    case 'release':
      return { kind: 'release', batch, holdEmptyArguments: tokensSpent, holdUnclosed: state.finish !== undefined }
  }
}
