import type { FinishReason } from '../../chunk/finish-reason.ts'
import { aliasOf } from '../finish-word.ts'
import type { FinishAliases } from '../finish-word.ts'
import { printed } from '../kept-value.ts'
import { identity, isNothing, isRecord } from '../wire-value.ts'

/** How a response ended, in the wire's word (`response.status`) and in ours. */
export interface ResponseFinish {
  readonly reason: FinishReason
  readonly raw: string
  /** The word that no table knows. */
  readonly unknown?: string
}

/** Why a response is incomplete. `steered` cuts it off in favour of another one. */
const INCOMPLETE: Readonly<Record<string, FinishReason | undefined>> = Object.assign(Object.create(null), {
  max_output_tokens: 'length',
  max_tokens: 'length',
  max_messages: 'length',
  content_filter: 'content-filter',
  steered: 'aborted',
})

/**
 * The finish of a response that has ended, from what it says of itself and from the `status` that its last event is named for.
 * There is no reason for calls on the wire: a completed response that holds calls for the caller ended for them. An incomplete one
 * is never an answer, whatever its reason: one that is not known says that it was broken off. Undefined when neither says anything.
 */
export function finishOf(
  response: Readonly<Record<string, unknown>>,
  status: string | undefined,
  hasCalls: boolean,
  aliases: FinishAliases,
): ResponseFinish | undefined {
  const said = response['status']
  const raw = identity(said) ?? (isNothing(said) || said === '' ? status : printed(said))
  if (raw === undefined) return undefined
  const alias = aliasOf(raw, aliases)
  if (alias !== undefined) return { reason: alias, raw }
  // Where the event and the response disagree, the worse one counts.
  switch (raw === 'completed' ? (status ?? raw) : raw) {
    case 'completed':
      if (isRecord(response['incomplete_details']) && !isNothing(response['incomplete_details']['reason'])) {
        return incompleteOf(response, raw, aliases)
      }
      return { reason: hasCalls ? 'tool-calls' : 'stop', raw }
    case 'failed':
      return { reason: 'error', raw }
    case 'cancelled':
      return { reason: 'aborted', raw }
    case 'incomplete':
      return incompleteOf(response, raw, aliases)
    default:
      return { reason: 'unknown', raw, unknown: raw }
  }
}

function incompleteOf(
  response: Readonly<Record<string, unknown>>,
  raw: string,
  aliases: FinishAliases,
): ResponseFinish {
  const details = response['incomplete_details']
  const why = isRecord(details) ? identity(details['reason']) : undefined
  const reason = why === undefined ? undefined : (aliasOf(why, aliases) ?? INCOMPLETE[why])
  return reason === undefined ? { reason: 'aborted', raw, unknown: why ?? 'no reason' } : { reason, raw }
}

/** Does a response in this state still go on? A body that holds one is no answer yet. */
export function isUnderWay(status: unknown): boolean {
  return typeof status === 'string' && /^(?:queued|in_progress)$/.test(status)
}
