import type { StreamChunk, ToolCallDelta } from '../chunk/chunk.ts'
import type { StreamFault } from '../chunk/fault.ts'
import type { FinishReason } from '../chunk/finish-reason.ts'
import type { TokenUsage } from '../chunk/usage.ts'
import { blockKey } from './block-key.ts'
import { errorTypeOf } from './error-type.ts'
import type { EventStreamWriter, WritableChunk } from './event-stream-writer.ts'
import { eventText } from './event-text.ts'
import { faultNote } from './fault-note.ts'
import { CallItem, ReasoningItem, TextItem } from './response-items.ts'
import type { ItemEvent, ResponseItem } from './response-items.ts'
import type { WrittenResponse } from './written-response.ts'

/**
 * OpenAI Responses events: one output item per block. Calls that the provider ran itself are left out: each of its tools has an item
 * type of its own.
 *
 * @see https://platform.openai.com/docs/api-reference/responses-streaming
 */
export class ResponsesWriter implements EventStreamWriter {
  readonly oneChoice = true
  readonly #response: WrittenResponse
  readonly #items = new Map<string, TextItem | ReasoningItem | CallItem>()
  readonly #output: ResponseItem[] = []
  #sequence = 0
  #begun = false
  #finish: Extract<StreamChunk, { readonly type: 'finish' }> | undefined

  constructor(response: WrittenResponse) {
    this.#response = response
  }

  write(chunk: WritableChunk): string {
    switch (chunk.type) {
      case 'text-delta':
        return this.#text(chunk, () => new TextItem('output_text', this.#output.length, this.#id))
      case 'refusal-delta':
        return this.#text(chunk, () => new TextItem('refusal', this.#output.length, this.#id))
      case 'reasoning-delta':
        return this.#text(chunk, () => new ReasoningItem(this.#output.length, this.#id))
      case 'tool-call-delta':
        return chunk.providerExecuted === true ? '' : this.#call(chunk)
      case 'block-end': {
        const item = this.#items.get(blockKey(chunk))
        return item === undefined ? '' : this.#events(item.close('completed'))
      }
      case 'finish':
        this.#finish = chunk
        return ''
      case 'metadata':
        return ''
    }
  }

  close(): string {
    const begun = this.begin()
    const { reason, raw = null } = this.#finish!
    const why = incompleteReason(reason, raw)
    const status = why === undefined ? 'completed' : 'incomplete'
    const closed = [...this.#items.values()].flatMap((item) => item.close(status))
    const details = why === undefined ? {} : { incomplete_details: { reason: why } }
    return (
      begun +
      this.#events(closed) +
      this.#events([{ type: `response.${status}`, response: this.#whole(status, details) }])
    )
  }

  error(fault: StreamFault): string {
    const { message, provider } = fault
    const code = provider?.code ?? fault.code
    return this.#events([
      {
        type: 'error',
        code,
        message,
        param: null,
        // Flat is how the API documents it; nested is how it is sent too, and what makes the official client throw.
        error: { type: errorTypeOf(fault), code, message, param: null },
        ...faultNote(fault),
      },
    ])
  }

  begin(): string {
    if (this.#begun) return ''
    this.#begun = true
    const response = this.#whole('in_progress', {})
    return this.#events([
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
    ])
  }

  #text(
    chunk: Extract<StreamChunk, { readonly type: 'text-delta' | 'refusal-delta' | 'reasoning-delta' }>,
    open: () => TextItem | ReasoningItem,
  ): string {
    const begun = this.begin()
    const key = blockKey(chunk)
    const known = this.#items.get(key)
    if (known !== undefined && !known.closed && !(known instanceof CallItem))
      return this.#events(known.append(chunk.text))
    const item = open()
    this.#items.set(key, item)
    this.#output.push(item)
    return begun + this.#events(item.append(chunk.text))
  }

  #call(chunk: ToolCallDelta): string {
    const begun = this.begin()
    const key = blockKey(chunk)
    const known = this.#items.get(key)
    if (known instanceof CallItem) return this.#events(known.take(chunk))
    const item: CallItem = new CallItem(chunk, () => this.#output.push(item) - 1)
    this.#items.set(key, item)
    return begun + this.#events(item.take(chunk))
  }

  get #id(): string {
    return this.#response.id('resp_')
  }

  /** The response as it is now. */
  #whole(status: string, fields: object): object {
    const { created, model, usage } = this.#response
    return {
      id: this.#id,
      object: 'response',
      created_at: created,
      status,
      error: null,
      incomplete_details: null,
      instructions: null,
      model,
      output: this.#output.map((item) => item.item()),
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [],
      metadata: {},
      usage: status === 'in_progress' || usage === undefined ? null : usageOf(usage),
      ...fields,
    }
  }

  #events(payloads: readonly ItemEvent[]): string {
    return payloads
      .map((payload) => eventText({ ...payload, sequence_number: this.#sequence++ }, payload.type))
      .join('')
  }
}

/** Why the response is not complete; what the API has no word for keeps its own, and is not made a good end. */
function incompleteReason(reason: FinishReason, raw: string | null): string | undefined {
  switch (reason) {
    case 'stop':
    case 'tool-calls':
      return undefined
    case 'length':
      return 'max_output_tokens'
    case 'content-filter':
      return 'content_filter'
    case 'pause':
    case 'error':
    case 'aborted':
    case 'unknown':
      return raw ?? reason
  }
}

function usageOf(usage: TokenUsage): object {
  const { inputTokens = 0, outputTokens = 0, reasoningTokens = 0, cachedInputTokens = 0 } = usage
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: usage.totalTokens ?? inputTokens + outputTokens,
  }
}
