import type { StreamChunk, ToolCallDelta } from '../chunk/chunk.ts'
import type { StreamFault } from '../chunk/fault.ts'
import type { FinishReason } from '../chunk/finish-reason.ts'
import { blockKey } from './block-key.ts'
import type { EventStreamWriter, WritableChunk } from './event-stream-writer.ts'
import { eventText } from './event-text.ts'
import { faultNote } from './fault-note.ts'
import { foreign } from './foreign-fields.ts'
import { callOf, take } from './written-call.ts'
import type { WrittenCall } from './written-call.ts'
import type { WrittenResponse } from './written-response.ts'

type TextType = 'text' | 'thinking'

interface WrittenText {
  readonly type: TextType
  readonly index: number
}

type BlockChunk = Extract<WritableChunk, { readonly index: number }>

const CALL_KEYS: ReadonlySet<string> = new Set(['type', 'id', 'name', 'input'])

/**
 * Anthropic Messages events. The API knows no refusal in words: it is text, under the stop reason `refusal`. The input of a call with
 * free text is wrapped into `{"input": …}`, as input is always JSON here.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/streaming
 */
export class MessagesWriter implements EventStreamWriter {
  readonly oneChoice = true
  readonly #response: WrittenResponse
  readonly #calls = new Map<string, WrittenCall>()
  /** Key of the call whose input is being written. */
  #openCall: string | undefined
  /** By block, in order of first appearance. */
  readonly #waiting = new Map<string, BlockChunk[]>()
  /** Blocks of text never overlap: the open one is closed before anything else begins. */
  #open: WrittenText | undefined
  #openKey = ''
  #next = 0
  #begun = false
  #refused = false
  #hasOwnCalls = false

  constructor(response: WrittenResponse) {
    this.#response = response
  }

  /**
   * Blocks are written one after the other, as the API itself does and as clients expect it: what belongs to another block waits while
   * the input of a call is being written.
   */
  write(chunk: WritableChunk): string {
    if (!('index' in chunk)) return this.#writeNow(chunk)
    const key = blockKey(chunk)
    if (this.#openCall !== undefined && this.#openCall !== key) {
      const waiting = this.#waiting.get(key)
      if (waiting === undefined) this.#waiting.set(key, [chunk])
      else waiting.push(chunk)
      return ''
    }
    const text = this.#writeNow(chunk)
    return this.#openCall === undefined ? text + this.#writeWaiting() : text
  }

  /** Until another call is open. */
  #writeWaiting(): string {
    let text = ''
    for (const [key, chunks] of this.#waiting) {
      if (this.#openCall !== undefined) break
      this.#waiting.delete(key)
      for (const chunk of chunks) text += this.#writeNow(chunk)
    }
    return text
  }

  #writeNow(chunk: WritableChunk): string {
    switch (chunk.type) {
      case 'text-delta':
      case 'refusal-delta':
        this.#refused ||= chunk.type === 'refusal-delta'
        return this.#text('text', chunk.index, { type: 'text_delta', text: chunk.text })
      case 'reasoning-delta':
        return this.#text('thinking', chunk.index, { type: 'thinking_delta', thinking: chunk.text })
      case 'tool-call-delta':
        return this.#call(chunk)
      case 'block-end':
        return this.#end(chunk)
      case 'finish':
        return this.#finish(chunk.reason, chunk.raw ?? null)
      case 'metadata':
        return ''
    }
  }

  close(): string {
    return event({ type: 'message_stop' })
  }

  error(fault: StreamFault): string {
    return event({
      type: 'error',
      error: { type: errorTypeOf(fault), message: fault.message, ...faultNote(fault) },
    })
  }

  begin(): string {
    if (this.#begun) return ''
    this.#begun = true
    const { model, usage: { inputTokens = 0 } = {} } = this.#response
    return event({
      type: 'message_start',
      message: {
        id: this.#response.id('msg_'),
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: inputTokens, output_tokens: 0 },
      },
    })
  }

  #text(type: TextType, index: number, delta: object): string {
    const key = `${type}/${index}`
    let before = this.begin()
    if (this.#open === undefined || this.#openKey !== key) {
      before += this.#closeText()
      this.#open = { type, index: this.#next++ }
      this.#openKey = key
      const block = type === 'text' ? { type, text: '' } : { type, thinking: '', signature: '' }
      before += event({ type: 'content_block_start', index: this.#open.index, content_block: block })
    }
    return before + event({ type: 'content_block_delta', index: this.#open.index, delta })
  }

  #call(chunk: ToolCallDelta): string {
    const key = blockKey(chunk)
    let call = this.#calls.get(key)
    if (call === undefined) {
      // Its place is taken when it is written: blocks begin in the order of their indexes.
      call = callOf(chunk, -1)
      this.#calls.set(key, call)
    }
    const { text, begins } = take(call, chunk)
    if (call.name === undefined) return ''
    if (!begins) return this.#input(call, text)
    const placed = { ...call, index: this.#next++ }
    this.#calls.set(key, placed)
    this.#openCall = key
    const type = chunk.providerExecuted === true ? 'server_tool_use' : 'tool_use'
    if (type === 'tool_use') this.#hasOwnCalls = true
    const block = { ...foreign(call.metadata, CALL_KEYS), type, id: call.callId, name: call.name, input: {} }
    return (
      this.begin() +
      this.#closeText() +
      event({ type: 'content_block_start', index: placed.index, content_block: block }) +
      (call.freeText ? inputDelta(placed.index, '{"input":"') : '') +
      this.#input(placed, text)
    )
  }

  #input(call: WrittenCall, text: string): string {
    if (text === '') return ''
    return inputDelta(call.index, call.freeText ? JSON.stringify(text).slice(1, -1) : text)
  }

  #end(chunk: Extract<StreamChunk, { readonly type: 'block-end' }>): string {
    const call = this.#calls.get(blockKey(chunk))
    if (call !== undefined) return this.#closeCall(true)
    if (this.#openKey !== `text/${chunk.index}` && this.#openKey !== `thinking/${chunk.index}`) return ''
    return this.#closeText(chunk.metadata?.['signature'])
  }

  #closeText(signature?: unknown): string {
    if (this.#open === undefined) return ''
    const { type, index } = this.#open
    this.#open = undefined
    this.#openKey = ''
    const signed = type === 'thinking' && typeof signature === 'string' && signature !== ''
    const delta = { type: 'signature_delta', signature }
    return (
      (signed ? event({ type: 'content_block_delta', index, delta }) : '') +
      event({ type: 'content_block_stop', index })
    )
  }

  /** @param whole a good end: what was cut off stays so */
  #closeCall(whole: boolean): string {
    if (this.#openCall === undefined) return ''
    const { index, freeText } = this.#calls.get(this.#openCall)!
    this.#openCall = undefined
    return (freeText && whole ? inputDelta(index, '"}') : '') + event({ type: 'content_block_stop', index })
  }

  #finish(reason: FinishReason, raw: string | null): string {
    const whole = reason !== 'length' && reason !== 'content-filter'
    let closed = this.#closeCall(whole)
    while (this.#waiting.size > 0) closed += this.#writeWaiting() + this.#closeCall(whole)
    const { inputTokens, outputTokens = 0, cachedInputTokens } = this.#response.usage ?? {}
    const usage = {
      ...(inputTokens !== undefined && { input_tokens: inputTokens }),
      output_tokens: outputTokens,
      ...(cachedInputTokens !== undefined && { cache_read_input_tokens: cachedInputTokens }),
    }
    const word = this.#refused ? 'refusal' : wordFor(reason, raw, this.#hasOwnCalls)
    const delta = { stop_reason: word, stop_sequence: null }
    return this.begin() + closed + this.#closeText() + event({ type: 'message_delta', delta, usage })
  }
}

interface MessageEvent {
  readonly type: string
  readonly [field: string]: unknown
}

function event(payload: MessageEvent): string {
  return eventText(payload, payload.type)
}

function inputDelta(index: number, json: string): string {
  return event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: json } })
}

function wordFor(reason: FinishReason, raw: string | null, hasCalls: boolean): string {
  switch (reason) {
    case 'stop':
      return hasCalls ? 'tool_use' : 'end_turn'
    case 'tool-calls':
      return 'tool_use'
    case 'length':
      return 'max_tokens'
    case 'content-filter':
      return 'refusal'
    case 'pause':
      return 'pause_turn'
    case 'error':
    case 'aborted':
    case 'unknown':
      return raw ?? reason
  }
}

const ERROR_TYPES: Readonly<Record<number, string | undefined>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

function errorTypeOf({ code, status }: StreamFault): string {
  if (code === 'rate_limited') return 'rate_limit_error'
  return (status === undefined ? undefined : ERROR_TYPES[status]) ?? 'api_error'
}
