import type { StreamChunk, ToolCallDelta } from '../chunk/chunk.ts'
import type { StreamFault } from '../chunk/fault.ts'
import type { FinishReason } from '../chunk/finish-reason.ts'
import type { TokenUsage } from '../chunk/usage.ts'
import { blockKey } from './block-key.ts'
import { errorTypeOf } from './error-type.ts'
import { eventText } from './event-text.ts'
import type { EventStreamWriter, WritableChunk } from './event-stream-writer.ts'
import { faultNote } from './fault-note.ts'
import { foreign } from './foreign-fields.ts'
import { callOf, take } from './written-call.ts'
import type { WrittenCall } from './written-call.ts'
import type { WrittenResponse } from './written-response.ts'

const CHUNK_KEYS: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices', 'usage', 'error'])
const CHOICE_KEYS: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'finish_reason', 'usage', 'error'])
const DELTA_KEYS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_text',
  'tool_calls',
  'function_call',
  'error',
])
const CALL_KEYS: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function', 'custom'])

interface WrittenChoice {
  begun: boolean
  calls: number
}

/**
 * OpenAI Chat Completions chunks. Calls that the provider ran itself have no place in them and are left out.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming/streaming
 */
export class ChatCompletionsWriter implements EventStreamWriter {
  readonly oneChoice = false
  readonly #response: WrittenResponse
  readonly #includeUsage: boolean
  readonly #choices = new Map<number, WrittenChoice>()
  readonly #calls = new Map<string, WrittenCall>()

  constructor(response: WrittenResponse, includeUsage: boolean) {
    this.#response = response
    this.#includeUsage = includeUsage
  }

  /** Its first event is that of the first content. */
  begin(): string {
    return ''
  }

  write(chunk: WritableChunk): string {
    switch (chunk.type) {
      case 'text-delta':
        return this.#delta(chunk.choice, { content: chunk.text })
      case 'reasoning-delta':
        return this.#delta(chunk.choice, { reasoning_content: chunk.text })
      case 'refusal-delta':
        return this.#delta(chunk.choice, { refusal: chunk.text })
      case 'tool-call-delta':
        return chunk.providerExecuted === true ? '' : this.#call(chunk)
      case 'metadata':
        return this.#metadata(chunk)
      case 'finish':
        return this.#finish(chunk.choice ?? 0, chunk.reason, chunk.raw ?? null)
      case 'block-end':
        return ''
    }
  }

  close(): string {
    const { usage } = this.#response
    const counters = usage === undefined || !this.#includeUsage ? '' : this.#event([], usageOf(usage))
    return `${counters}data: [DONE]\n\n`
  }

  error(fault: StreamFault): string {
    const { message, code, provider } = fault
    return eventText({
      error: {
        message,
        type: errorTypeOf(fault),
        code: provider?.code ?? code,
        param: null,
        ...faultNote(fault),
      },
    })
  }

  #call(chunk: ToolCallDelta): string {
    const key = blockKey(chunk)
    let call = this.#calls.get(key)
    if (call === undefined) {
      const choice = this.#choice(chunk.choice)
      call = callOf(chunk, choice.calls++)
      this.#calls.set(key, call)
    }
    const { text, begins } = take(call, chunk)
    const extra = begins ? foreign(call.metadata, CALL_KEYS) : foreign(chunk.metadata, CALL_KEYS)
    if (call.name === undefined || (!begins && text === '' && Object.keys(extra).length === 0)) return ''
    const named = begins ? { name: call.name } : {}
    const body = call.freeText ? { custom: { ...named, input: text } } : { function: { ...named, arguments: text } }
    const identified = begins ? { id: call.callId, type: call.freeText ? 'custom' : 'function' } : {}
    return this.#delta(chunk.choice, { tool_calls: [{ index: call.index, ...identified, ...body, ...extra }] })
  }

  #metadata({ choice, replace, append }: Extract<StreamChunk, { readonly type: 'metadata' }>): string {
    if (choice === undefined) {
      const fields = foreign({ ...replace, ...append }, CHUNK_KEYS)
      return Object.keys(fields).length === 0 ? '' : this.#event([], fields)
    }
    const logprobs: Record<string, unknown> = {}
    const lists: Record<string, unknown> = {}
    for (const [key, list] of Object.entries(append ?? {})) {
      if (key.startsWith('logprobs.')) logprobs[key.slice('logprobs.'.length)] = list
      else if (key === 'reasoning_details') lists[key] = list.filter((detail) => !saysText(detail))
      else if (key === 'content' || !DELTA_KEYS.has(key)) lists[key] = list
    }
    const fields = {
      ...foreign(replace, CHOICE_KEYS),
      ...(Object.keys(logprobs).length > 0 && { logprobs }),
    }
    return this.#delta(choice, lists, fields)
  }

  #finish(index: number, reason: FinishReason, raw: string | null): string {
    const { calls } = this.#choice(index)
    return this.#event([{ index, delta: {}, finish_reason: wordFor(reason, raw, calls > 0) }])
  }

  #choice(index = 0): WrittenChoice {
    let choice = this.#choices.get(index)
    if (choice === undefined) {
      choice = { begun: false, calls: 0 }
      this.#choices.set(index, choice)
    }
    return choice
  }

  #delta(index = 0, delta: object, fields: object = {}): string {
    const choice = this.#choice(index)
    const role = choice.begun ? {} : { role: 'assistant' }
    choice.begun = true
    return this.#event([{ index, delta: { ...role, ...delta }, finish_reason: null, ...fields }])
  }

  #event(choices: readonly object[], fields: object = {}): string {
    return eventText({
      ...fields,
      id: this.#response.id('chatcmpl-'),
      object: 'chat.completion.chunk',
      created: this.#response.created,
      model: this.#response.model,
      choices,
    })
  }
}

/** Details with text say again what was written as reasoning; others (a signature, encrypted data) are all there is of it. */
function saysText(detail: unknown): boolean {
  if (typeof detail !== 'object' || detail === null) return false
  const { text, summary } = detail as { readonly text?: unknown; readonly summary?: unknown }
  return typeof text === 'string' || typeof summary === 'string'
}

/** A reason that is not known keeps its own word: turned into `stop`, it would look like a good end. */
function wordFor(reason: FinishReason, raw: string | null, hasCalls: boolean): string {
  switch (reason) {
    case 'stop':
      return hasCalls ? 'tool_calls' : 'stop'
    case 'tool-calls':
      return 'tool_calls'
    case 'length':
      return 'length'
    case 'content-filter':
      return 'content_filter'
    case 'pause':
      return 'pause_turn'
    case 'error':
    case 'aborted':
    case 'unknown':
      return raw ?? reason
  }
}

function usageOf(usage: TokenUsage): object {
  const { inputTokens = 0, outputTokens = 0, reasoningTokens, cachedInputTokens } = usage
  return {
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: usage.totalTokens ?? inputTokens + outputTokens,
      ...(cachedInputTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedInputTokens } }),
      ...(reasoningTokens !== undefined && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
    },
  }
}
