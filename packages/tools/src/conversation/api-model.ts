import { streamModel } from 'streamfold'
import type { StreamModelOptions } from 'streamfold'
import { HISTORY_APIS } from 'streamfold/history'
import type { HistoryApi } from 'streamfold/history'
import type { ConversationModel } from './model.ts'
import { conversationFields } from './request-body.ts'

export interface ApiModelOptions extends Omit<
  StreamModelOptions,
  'api' | 'body' | 'signal' | 'throwOnError' | 'idSeed' | 'requestId'
> {
  readonly api: HistoryApi
  readonly model: string
  /** Further fields of each request body, `max_tokens` for example. What carries the conversation is set by it. */
  readonly body?: object
}

/**
 * A model behind an API, for {@link runConversation}: each request is one `streamModel`, with the messages, tools and results in
 * the words of that API. A run may go on with another API than it began with; what only the first could read is left out then.
 *
 * @throws TypeError for an API that has no history of messages
 */
export function apiModel({ api, model, body, ...options }: ApiModelOptions): ConversationModel {
  if (!HISTORY_APIS.includes(api)) {
    throw new TypeError(`no conversation can be held over "${api}"; APIs that can are ${HISTORY_APIS.join(', ')}`)
  }
  return ({ messages, tools, signal, runId, turn }) =>
    streamModel({
      ...options,
      api,
      body: { ...body, model, ...conversationFields(api, messages, tools) },
      signal,
      // Ids that had to be made up stay apart from those of other turns.
      idSeed: `${runId}/${turn}`,
      requestId: `${runId}/${turn}`,
    })
}
