import type { Gate, Ledger } from '@streamfold/tools'

/** Where a call stands, as soon as it is certain: what the ledger says is on the disk. */
export interface CallStep {
  readonly choice: number
  readonly callId: string
  readonly name: string
  readonly state: 'validated' | 'asked' | 'authorized' | 'executing' | 'succeeded' | 'failed' | 'unknown' | 'held'
  /** Why it failed, is held or unknown. */
  readonly code?: string
  /** The result as JSON, or what the model is told in its place. */
  readonly content?: string
  /** It was there before; nothing ran now. */
  readonly replayed?: true
  /** Claim number, when a worker before did not come to an end. */
  readonly again?: number
}

type Execution = NonNullable<Awaited<ReturnType<Ledger['find']>>>

/** The gate, telling what it found. */
export function observedGate(gate: Gate, onStep: (step: CallStep) => void): Gate {
  return {
    recheck: (stored, context) => gate.recheck(stored, context),
    async check(call, context) {
      const verdict = await gate.check(call, context)
      const about = { choice: context.choice, callId: call.callId, name: call.name }
      if (verdict.kind === 'pass') onStep({ ...about, state: 'validated' })
      else onStep({ ...about, state: 'failed', code: verdict.code, content: verdict.message })
      return verdict
    },
  }
}

/** The ledger, telling of every commit that moves a call. */
export function observedLedger(ledger: Ledger, onStep: (step: CallStep) => void): Ledger {
  const begun = (execution: Execution): void =>
    onStep({
      ...aboutOf(execution),
      state: 'executing',
      ...(execution.fence > 1 && { again: execution.fence }),
    })
  return {
    ...ledger,
    async release(request) {
      const answer = await ledger.release(request)
      for (const [at, standing] of answer.calls.entries()) {
        const call = request.calls[at]!
        const about = { choice: request.choice, callId: call.callId, name: call.tool }
        switch (standing.kind) {
          case 'needs_approval':
            onStep({ ...about, state: 'asked' })
            break
          case 'claimed':
            onStep({ ...about, state: 'authorized' })
            begun(standing.claim.execution)
            break
          case 'execution':
            if (standing.replayed) onStep({ ...outcomeOf(standing.execution), ...about, replayed: true })
            else onStep({ ...about, state: 'authorized' })
            break
          case 'waits':
            onStep({ ...about, state: 'held', code: 'batch_held', content: standing.reason })
            break
          case 'refused':
            // What the gate refused, it has told itself.
            if (call.verdict === 'refuse') break
            onStep({ ...about, state: stateOfRefusal(standing.code), code: standing.code, content: standing.reason })
        }
      }
      return answer
    },
    async claimOne(holder, key) {
      const claim = await ledger.claimOne(holder, key)
      if (claim !== undefined) begun(claim.execution)
      return claim
    },
    async claimReady(options) {
      const claims = await ledger.claimReady(options)
      for (const { execution } of claims) begun(execution)
      return claims
    },
    async reclaimExpired(options) {
      const claims = await ledger.reclaimExpired(options)
      for (const { execution } of claims) begun(execution)
      return claims
    },
    async finish(claim, outcome) {
      const answer = await ledger.finish(claim, outcome)
      if (answer.execution !== undefined) onStep(outcomeOf(answer.execution))
      return answer
    },
    async sweepExpired(options) {
      const given = await ledger.sweepExpired(options)
      for (const execution of given) onStep(outcomeOf(execution))
      return given
    },
  }
}

function stateOfRefusal(code: string): 'held' | 'failed' {
  return code === 'batch_held' ? 'held' : 'failed'
}

function aboutOf({ choice, callId, tool }: Execution): Pick<CallStep, 'choice' | 'callId' | 'name'> {
  return { choice, callId, name: tool }
}

function outcomeOf(execution: Execution): CallStep {
  const about = aboutOf(execution)
  const why = execution.message === null ? {} : { content: execution.message }
  switch (execution.state) {
    case 'ready':
      return { ...about, state: 'authorized' }
    case 'executing':
      return { ...about, state: 'executing' }
    case 'succeeded':
      return { ...about, state: 'succeeded', ...(execution.result !== null && { content: execution.result }) }
    case 'failed':
      return { ...about, state: 'failed', code: execution.code ?? 'execution_failed', ...why }
    case 'unknown':
      return { ...about, state: 'unknown', code: 'outcome_unknown', ...why }
  }
}
