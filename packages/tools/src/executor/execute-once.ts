import { clip } from 'streamfold/json'
import { crashPoint } from '../crash-point.ts'
import type { CallContext, Tool, ToolContext } from '../define/tool.ts'
import type { GatePass } from '../gate.ts'
import type { Claim } from '../ledger/claim.ts'
import type { Execution } from '../ledger/execution.ts'
import type { ExecutionOutcome } from '../ledger/finish.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { idempotencyKey } from '../ledger/op-key.ts'
import { StoreError } from '../store/store-error.ts'
import { messageOf } from '../thrown.ts'
import { AbortedTool } from './active-claims.ts'
import type { ActiveClaim, ActiveClaims } from './active-claims.ts'
import { NoEffectError } from './no-effect-error.ts'
import { resultText } from './result-text.ts'
import { storedContext } from './stored-context.ts'

/** What an execution needs besides its claim. */
export interface ExecutionSetting {
  readonly ledger: Ledger
  readonly active: ActiveClaims
  /** Checks the stored call again and brings the tool and its validated arguments. */
  readonly recheck: (execution: Execution) => Promise<RecheckAnswer>
  /** The caller's own signal, where there is a caller. */
  readonly signal?: AbortSignal
  readonly leaseMs: number
  readonly maxResultBytes: number
  /** How long a tool may take that names no time itself, in milliseconds. */
  readonly timeoutMs: number
  /** How long an aborted tool may take to come to an end, in milliseconds. */
  readonly abortGraceMs: number
  /** Claims of one execution at most. */
  readonly maxAttempts: number
  /** When to try or ask again, in milliseconds. */
  readonly tryAgainMs: number
  /** Pauses between attempts to record an outcome while the store can't be written, in milliseconds. */
  readonly recordRetriesMs: readonly number[]
  /** Takes an outcome that could not be recorded while its caller waited. */
  readonly reportLater: (claim: Claim, outcome: ExecutionOutcome) => void
}

export type RecheckAnswer =
  | { readonly kind: 'pass'; readonly pass: GatePass }
  | { readonly kind: 'refuse'; readonly reason: string }

/** `later`: nothing is known yet, and it may be tried or asked about again under another claim. */
type Ended = ExecutionOutcome | 'later'

/**
 * Runs one execution whose `executing` was committed under `claim`, records what came of it, and gives the row.
 *
 * This is the only place where a tool is entered.
 * @throws {StoreError} when the outcome could not be recorded; the row then stays `executing` until its lease ends
 */
export async function executeOnce(claim: Claim, setting: ExecutionSetting): Promise<Execution> {
  claim.use()
  const active = setting.active.add(claim)
  try {
    const outcome = await run(active, setting)
    if (outcome === 'later') {
      await setting.ledger.postpone(claim, setting.tryAgainMs)
      return claim.execution
    }
    return await record(claim, outcome, setting)
  } finally {
    setting.active.remove(active)
  }
}

async function run(active: ActiveClaim, setting: ExecutionSetting): Promise<Ended> {
  const { claim, abort } = active
  const { execution } = claim
  const stopped = setting.signal?.aborted === true || abort.signal.aborted
  if (stopped && !claim.again) return { state: 'failed', code: 'cancelled', message: 'cancelled before it began' }
  const checked = await setting.recheck(execution)
  if (checked.kind === 'refuse') {
    // An earlier claim may have had its effect; only a first one is certain to have done nothing.
    return claim.again
      ? { state: 'unknown', message: `it may have run, and is not allowed to run again: ${clip(checked.reason, 300)}` }
      : { state: 'failed', code: 'not_authorized', message: checked.reason }
  }
  const { tool, args } = checked.pass
  const context = contextFor(claim, storedContext(execution), abort.signal)
  if (claim.again && execution.effect === 'queryable') {
    const known = await ask(tool, context, setting)
    if (known !== 'run') return known
  }
  await crashPoint('execute.before-entry')
  const halted = await lastLook(active, setting)
  if (halted !== undefined) return halted
  // Entered at once: nothing is waited for in between.
  const entered = await enter(active, tool, args, context, setting)
  if (entered.state !== 'unknown' || cancelledBy(abort.signal)) return entered
  return await afterError(entered, tool, context, claim, setting)
}

/** What to make of a failure that may have had its effect, by what a second run would do. */
async function afterError(
  entered: ExecutionOutcome & { readonly state: 'unknown' },
  tool: Tool,
  context: ToolContext,
  claim: Claim,
  setting: ExecutionSetting,
): Promise<Ended> {
  const later = claim.fence < setting.maxAttempts ? 'later' : entered
  switch (claim.execution.effect) {
    case 'idempotent':
      return later
    case 'queryable': {
      const known = await ask(tool, context, setting)
      if (known === 'run') return { state: 'failed', code: 'execution_failed', message: entered.message }
      return known === 'later' ? later : known
    }
    case 'read':
    case 'unsafe':
      return entered
  }
}

function cancelledBy(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason instanceof AbortedTool && signal.reason.why === 'cancelled'
}

function contextFor(claim: Claim, call: CallContext, signal: AbortSignal): ToolContext {
  return {
    tenant: call.tenant,
    ...(call.workflow === undefined ? {} : { workflow: call.workflow }),
    runId: call.runId,
    turn: call.turn,
    callId: claim.execution.callId,
    ...(call.principal === undefined ? {} : { principal: call.principal }),
    idempotencyKey: idempotencyKey(claim.execution.tenant, claim.execution.key),
    fence: claim.fence,
    signal,
  }
}

/** The tool's own function, once. Whatever it does, this ends: an aborted tool has a grace time to stop. */
async function enter(
  active: ActiveClaim,
  tool: Tool,
  args: unknown,
  context: ToolContext,
  setting: ExecutionSetting,
): Promise<ExecutionOutcome> {
  const { abort, claim } = active
  const onCallerAbort = (): void => abort.abort(new AbortedTool('cancelled'))
  setting.signal?.addEventListener('abort', onCallerAbort, { once: true })
  const timer = setTimeout(() => abort.abort(new AbortedTool('timeout')), tool.timeoutMs ?? setting.timeoutMs)
  const patience = givenUp(abort.signal, setting.abortGraceMs)
  try {
    const running = Promise.resolve(tool.execute(args, context)).then(
      (value): ExecutionOutcome => {
        const { json, truncated } = resultText(value, setting.maxResultBytes)
        return { state: 'succeeded', result: json, truncated }
      },
      (thrown: unknown) => outcomeOfError(thrown, claim),
    )
    const outcome = await Promise.race([running, patience.promise])
    if (outcome === 'given_up') {
      reportLate(running, claim, setting)
      return outcomeOfError(abort.signal.reason, claim)
    }
    await crashPoint('execute.after-return')
    return outcome
  } catch (thrown) {
    // The function itself threw before it gave a promise.
    return outcomeOfError(thrown, claim)
  } finally {
    clearTimeout(timer)
    patience.cancel()
    setting.signal?.removeEventListener('abort', onCallerAbort)
  }
}

const LOOKS = 3

/**
 * The last look before the point of no return: why the tool may not be entered. A first claim that is fresh costs nothing; one
 * that was held up, by a slow check or with its process, has to be found in the ledger still, and so has one that runs again.
 * @throws {StoreError} when the ledger can't be asked
 */
async function lastLook(active: ActiveClaim, setting: ExecutionSetting): Promise<ExecutionOutcome | undefined> {
  const { claim, abort } = active
  // The database counted from a moment before; half a lease is far more than that moment.
  let freshUntil = claim.again ? 0 : setting.leaseMs / 2
  for (let look = 1; claim.ageMs >= freshUntil; look += 1) {
    if (look > LOOKS) return notEntered(claim, 'it was held up for too long')
    const asked = claim.ageMs
    const { lost, unwanted } = await setting.ledger.heartbeat([claim], setting.leaseMs)
    if (lost.length > 0) return notEntered(claim, 'its lease had ended')
    if (unwanted.length > 0) return notEntered(claim, 'it was cancelled')
    // The answer itself may have been held up.
    freshUntil = asked + setting.leaseMs / 2
  }
  if (setting.signal?.aborted !== true && !abort.signal.aborted) return undefined
  return notEntered(claim, 'it was cancelled')
}

/** This claim did nothing. Only where no earlier one can have done it either, that is the last word. */
function notEntered({ again, execution }: Claim, why: string): ExecutionOutcome {
  // A queryable one was asked a moment ago, and was not done.
  return again && execution.effect === 'idempotent'
    ? { state: 'unknown', message: `it may have run before, and was not run again: ${why}` }
    : { state: 'failed', code: 'cancelled', message: `not begun: ${why}` }
}

function givenUp(signal: AbortSignal, graceMs: number): { readonly promise: Promise<'given_up'>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined
  let onAbort: (() => void) | undefined
  const promise = new Promise<'given_up'>((resolve) => {
    onAbort = () => {
      timer = setTimeout(() => resolve('given_up'), graceMs)
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  return {
    promise,
    cancel() {
      clearTimeout(timer)
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort)
    },
  }
}

/** A tool that outlived its time may still say what happened; that settles the row if nothing else has. */
function reportLate(running: Promise<ExecutionOutcome>, claim: Claim, setting: ExecutionSetting): void {
  const report = async (): Promise<void> => {
    const outcome = await running
    if (outcome.state !== 'unknown') await setting.ledger.finish(claim, outcome)
  }
  report().catch(() => {
    // The row stays unknown, which is true.
  })
}

function outcomeOfError(thrown: unknown, { execution, again }: Claim): ExecutionOutcome {
  const message = clip(messageOf(thrown), 2000)
  const cancelled = thrown instanceof AbortedTool && thrown.why === 'cancelled'
  // "Nothing happened" of a second try is not the last word about the first, which may have done it, or still do it. A
  // queryable tool was asked in between.
  const certain = NoEffectError.is(thrown) && !(again && execution.effect === 'idempotent')
  if (execution.effect === 'read' || certain) {
    return { state: 'failed', code: cancelled ? 'cancelled' : 'execution_failed', message }
  }
  return { state: 'unknown', message }
}

/** What the other side says about an operation that was begun before, or `run` when it is certain that it was not done. */
async function ask(tool: Tool, context: ToolContext, setting: ExecutionSetting): Promise<Ended | 'run'> {
  if (tool.query === undefined) return { state: 'unknown', message: 'the tool can no longer be asked' }
  let answer
  try {
    answer = await tool.query(context.idempotencyKey, context)
  } catch {
    return 'later'
  }
  await crashPoint('query.after-answer')
  switch (answer.state) {
    case 'succeeded': {
      const { json, truncated } = resultText(answer.result, setting.maxResultBytes)
      return { state: 'succeeded', result: json, truncated }
    }
    case 'failed':
      return { state: 'failed', code: 'execution_failed', message: clip(answer.message, 2000) }
    case 'not_found':
      return answer.final ? 'run' : 'later'
    case 'pending':
      return 'later'
  }
}

async function record(claim: Claim, outcome: ExecutionOutcome, setting: ExecutionSetting): Promise<Execution> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const answer = await setting.ledger.finish(claim, outcome)
      return answer.execution ?? claim.execution
    } catch (error) {
      const pause = setting.recordRetriesMs[attempt]
      if (!(error instanceof StoreError) || !error.retryable) throw error
      if (pause === undefined) {
        setting.reportLater(claim, outcome)
        throw error
      }
      // Heartbeats go on meanwhile: the claim is still active.
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}
