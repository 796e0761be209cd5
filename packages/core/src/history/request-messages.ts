import type { StreamSnapshot } from '../accumulate/snapshot.ts'
import { anthropicHistory } from './anthropic-messages.ts'
import { bedrockMessages } from './bedrock-converse.ts'
import type { IdRules } from './call-id.ts'
import type { CallResult } from './call-result.ts'
import { chatMessages } from './chat-completions.ts'
import { cohereMessages } from './cohere.ts'
import { geminiContents } from './gemini.ts'
import { ollamaMessages } from './ollama.ts'
import type { HistoryApi, RequestMessage } from './request-message.ts'
import { responsesInput } from './responses.ts'
import { readTurn } from './turn.ts'
import type { DroppedBlock, Turn } from './turn.ts'

/** Which choice goes on, where it came from, and what the request that it goes into knows already. */
export interface HistoryOptions {
  /** Index of the choice that goes on. Default 0. */
  readonly choice?: number
  /**
   * The wire format that the snapshot was read from, where it is not the one that is written. Text and answered calls pass; reasoning,
   * signatures and what the provider ran itself mean nothing to another API and are dropped. Default: the same.
   */
  readonly from?: HistoryApi
  /** Call ids that the history has already; a call that has one of them gets another (fault F078). */
  readonly usedIds?: Iterable<string>
  /** Chat Completions: the field under which this server wants reasoning back, `reasoning_content` for example. Default: none. */
  readonly reasoningField?: string
  /** Is told of every block that does not go into the history, and why. */
  readonly onDropped?: (dropped: DroppedBlock) => void
}

interface Format {
  readonly ids: IdRules
  write(turn: Turn, options: HistoryOptions): readonly RequestMessage[]
}

const FORMATS: Readonly<Record<HistoryApi, Format>> = {
  chat_completions: { ids: {}, write: (turn, { reasoningField }) => chatMessages(turn, reasoningField) },
  responses: { ids: { maxLength: 64 }, write: responsesInput },
  anthropic_messages: { ids: { forbidden: /[^a-zA-Z0-9_-]/g }, write: anthropicHistory },
  gemini: { ids: {}, write: geminiContents },
  ollama: { ids: {}, write: ollamaMessages },
  cohere: { ids: {}, write: cohereMessages },
  bedrock_converse: { ids: { forbidden: /[^a-zA-Z0-9_-]/g, maxLength: 64 }, write: bedrockMessages },
}

/** The names that {@link toRequestMessages} takes. */
export const HISTORY_APIS: readonly HistoryApi[] = Object.freeze(Object.keys(FORMATS) as HistoryApi[])

/**
 * The messages that a finished turn adds to the next request: what the model said, and the results of its calls.
 *
 * Every call in them has exactly one result, right behind it: a call without a result, or one that never became whole, is dropped,
 * for a dangling call makes every later request fail (fault F206). Signatures, reasoning items and what the provider ran itself go
 * back where the API asks for them. A turn that was cut gives what was shown of it. Nothing is dropped in silence: see `onDropped`.
 *
 * @param snapshot of a stream that has ended
 * @param results of its calls, in any order; calls that were not run are answered too, with a sentence that says so
 * @returns elements for `messages`, `input` (Responses) or `contents` (Gemini); empty if there is nothing to send
 * @throws TypeError while the stream goes on; for a result that fits no call, or a second one for the same call; for an unknown API
 */
export function toRequestMessages(
  snapshot: StreamSnapshot,
  results: readonly CallResult[],
  api: HistoryApi,
  options: HistoryOptions = {},
): readonly RequestMessage[] {
  if (!Object.hasOwn(FORMATS, api)) {
    throw new TypeError(`no history is known for API "${api as string}"; known are ${HISTORY_APIS.join(', ')}`)
  }
  if (!snapshot.ended) {
    throw new TypeError('the stream has not ended, so its turn is not whole; wait for its end, or cancel it')
  }
  const { choice = 0, from = api, usedIds = [], onDropped = () => {} } = options
  const format = FORMATS[api]
  const turn = readTurn(snapshot, results, { choice, foreign: from !== api, ids: format.ids, usedIds, onDropped })
  return format.write(turn, options)
}
