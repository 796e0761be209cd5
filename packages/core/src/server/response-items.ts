import type { ToolCallDelta } from '../chunk/chunk.ts'
import { callOf, take } from './written-call.ts'
import type { WrittenCall } from './written-call.ts'

/** An event of the Responses API, without its sequence number. */
export interface ItemEvent {
  readonly type: string
  readonly [field: string]: unknown
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** One output item: it is announced, grows, and is restated whole when it is closed. */
export interface ResponseItem {
  readonly closed: boolean
  /** The item as it is now. */
  item(): object
  /** Nothing when it is closed already. */
  close(status: ItemStatus): readonly ItemEvent[]
}

/** A message with one part: text or a refusal. */
export class TextItem implements ResponseItem {
  closed = false
  readonly #type: 'output_text' | 'refusal'
  readonly #index: number
  readonly #id: string
  #begun = false
  #text = ''
  #status: ItemStatus = 'in_progress'

  constructor(type: 'output_text' | 'refusal', index: number, responseId: string) {
    this.#type = type
    this.#index = index
    this.#id = `msg_${responseId}_${index}`
  }

  append(delta: string): readonly ItemEvent[] {
    const place = { item_id: this.#id, output_index: this.#index, content_index: 0 }
    const grown: ItemEvent = {
      type: `response.${this.#type}.delta`,
      ...place,
      delta,
      ...(this.#type === 'output_text' && { logprobs: [] }),
    }
    if (this.#begun) {
      this.#text += delta
      return [grown]
    }
    this.#begun = true
    const added: readonly ItemEvent[] = [
      { type: 'response.output_item.added', output_index: this.#index, item: { ...this.item(), content: [] } },
      { type: 'response.content_part.added', ...place, part: this.#part() },
    ]
    this.#text = delta
    return [...added, grown]
  }

  close(status: ItemStatus): readonly ItemEvent[] {
    if (this.closed) return []
    this.closed = true
    this.#status = status
    const place = { item_id: this.#id, output_index: this.#index, content_index: 0 }
    const whole = this.#type === 'refusal' ? { refusal: this.#text } : { text: this.#text, logprobs: [] }
    return [
      { type: `response.${this.#type}.done`, ...place, ...whole },
      { type: 'response.content_part.done', ...place, part: this.#part() },
      { type: 'response.output_item.done', output_index: this.#index, item: this.item() },
    ]
  }

  item(): object {
    return { id: this.#id, type: 'message', status: this.#status, role: 'assistant', content: [this.#part()] }
  }

  #part(): object {
    return this.#type === 'refusal'
      ? { type: this.#type, refusal: this.#text }
      : { type: this.#type, text: this.#text, annotations: [], logprobs: [] }
  }
}

/** Reasoning, as a summary of one part: the form in which clients show it. */
export class ReasoningItem implements ResponseItem {
  closed = false
  readonly #index: number
  readonly #id: string
  #begun = false
  #text = ''

  constructor(index: number, responseId: string) {
    this.#index = index
    this.#id = `rs_${responseId}_${index}`
  }

  append(delta: string): readonly ItemEvent[] {
    const place = { item_id: this.#id, output_index: this.#index, summary_index: 0 }
    const grown: ItemEvent = { type: 'response.reasoning_summary_text.delta', ...place, delta }
    this.#text += delta
    if (this.#begun) return [grown]
    this.#begun = true
    return [
      { type: 'response.output_item.added', output_index: this.#index, item: { ...this.item(), summary: [] } },
      { type: 'response.reasoning_summary_part.added', ...place, part: { type: 'summary_text', text: '' } },
      grown,
    ]
  }

  close(): readonly ItemEvent[] {
    if (this.closed) return []
    this.closed = true
    const place = { item_id: this.#id, output_index: this.#index, summary_index: 0 }
    const part = { type: 'summary_text', text: this.#text }
    return [
      { type: 'response.reasoning_summary_text.done', ...place, text: this.#text },
      { type: 'response.reasoning_summary_part.done', ...place, part },
      { type: 'response.output_item.done', output_index: this.#index, item: this.item() },
    ]
  }

  item(): object {
    return { id: this.#id, type: 'reasoning', summary: [{ type: 'summary_text', text: this.#text }] }
  }
}

/** A call of a function, or of a custom tool, whose input is free text. It is announced once its name is known. */
export class CallItem implements ResponseItem {
  closed = false
  readonly #call: WrittenCall
  readonly #place: () => number
  #index = -1
  #status: ItemStatus = 'in_progress'

  constructor(chunk: ToolCallDelta, place: () => number) {
    this.#call = callOf(chunk, 0)
    this.#place = place
  }

  take(chunk: ToolCallDelta): readonly ItemEvent[] {
    const { text, begins } = take(this.#call, chunk)
    if (this.#call.name === undefined) return []
    const events: ItemEvent[] = []
    if (begins) {
      this.#index = this.#place()
      const empty = this.#call.freeText ? { input: '' } : { arguments: '' }
      events.push({ type: 'response.output_item.added', output_index: this.#index, item: { ...this.item(), ...empty } })
    }
    if (text !== '') events.push({ type: `response.${this.#field}.delta`, ...this.#where(), delta: text })
    return events
  }

  close(status: ItemStatus): readonly ItemEvent[] {
    if (this.closed || this.#index < 0) return []
    this.closed = true
    this.#status = status
    const { freeText, text, name } = this.#call
    const whole = freeText ? { input: text } : { arguments: text, name }
    return [
      { type: `response.${this.#field}.done`, ...this.#where(), ...whole },
      { type: 'response.output_item.done', output_index: this.#index, item: this.item() },
    ]
  }

  item(): object {
    const { freeText, text, name, callId } = this.#call
    return freeText
      ? { id: `ctc_${callId}`, type: 'custom_tool_call', status: this.#status, call_id: callId, name, input: text }
      : { id: `fc_${callId}`, type: 'function_call', status: this.#status, call_id: callId, name, arguments: text }
  }

  get #field(): string {
    return this.#call.freeText ? 'custom_tool_call_input' : 'function_call_arguments'
  }

  #where(): { readonly item_id: string; readonly output_index: number } {
    return { item_id: `${this.#call.freeText ? 'ctc' : 'fc'}_${this.#call.callId}`, output_index: this.#index }
  }
}
