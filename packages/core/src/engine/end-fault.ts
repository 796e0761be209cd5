/** Which fault a stream ends with whose body is over, or whose wire says that it is. */
import type { Retryable, StreamFault } from '../chunk/fault.ts'
import { clip } from '../json/clip.ts'
import type { ChoiceState } from './choice-board.ts'
import type { Position } from './diagnostics.ts'
import { emptyBody, incomplete, noFinishReason, unreadableEvent } from './faults.ts'
import type { EndCause } from './stream-engine.ts'
import type { Rung } from './verdict.ts'

export interface EndFacts {
  /** How the body ended; undefined: the wire's own signal came first. */
  readonly cause: EndCause | undefined
  readonly transportDetail: string | undefined
  readonly events: number
  readonly position: Position
  readonly bodyBytes: number
  readonly retryable: Retryable
}

/**
 * A stream that said nothing at all.
 * @param skipped the first event that could not be read
 * @param cut something had come that was not over
 */
export function nothingCame(facts: EndFacts, skipped: Rung | undefined, cut: boolean): StreamFault {
  if (skipped !== undefined) {
    const { event = 0, offset, message = '' } = skipped
    return { ...unreadableEvent(event, message, 'yes'), event, ...(offset !== undefined && { offset }) }
  }
  const cleanEnd = facts.cause === undefined || facts.cause === 'eof'
  return cleanEnd && !cut ? emptyBody(facts.bodyBytes) : endedEarly(undefined, facts)
}

/** The fault of the choice that makes the stream fail. */
export function faultOfChoice(
  outcome: 'failed' | 'incomplete',
  state: ChoiceState | undefined,
  facts: EndFacts,
): StreamFault {
  if (outcome === 'incomplete') return endedEarly(state, facts)
  const code = state?.verdict?.code ?? 'upstream_error'
  return {
    code,
    phase: code === 'upstream_error' ? 'delta' : 'call',
    retryable: facts.retryable,
    ...facts.position,
    ...(state !== undefined && { choice: state.index }),
    message:
      code === 'upstream_error'
        ? `the provider gave up: finish_reason is "${clip(state?.finish?.raw ?? '', 80)}"; a new attempt may succeed`
        : `arguments in choice ${state?.index} had to be repaired, which the strict policy does not allow; use policy "compat" or ask again`,
  }
}

function endedEarly(state: ChoiceState | undefined, facts: EndFacts): StreamFault {
  const { cause, position, retryable } = facts
  const aborted = state?.finish?.reason === 'aborted'
  if (cause === undefined && !aborted) return { ...noFinishReason(retryable), ...position }
  return incomplete({
    cause: cause ?? 'eof',
    detail: facts.transportDetail,
    events: facts.events,
    // Ended by its terminal signal, the body may have been read further than that.
    bytes: cause === undefined ? (position.offset ?? 0) : facts.bodyBytes,
    retryable,
    finishRaw: state?.finish?.raw,
    abortedByProvider: aborted,
  })
}
