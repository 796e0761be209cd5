import { permitsToolCalls } from '../../chunk/finish-reason.ts'
import type { FinishReason } from '../../chunk/finish-reason.ts'
import { clip } from '../../json/clip.ts'
import type { AdapterOutput } from '../adapter.ts'
import type { CallIds } from '../call-id.ts'
import { ProviderFields } from '../provider-fields.ts'
import { SlotTable } from '../slot.ts'
import { TextBlockWriter } from '../text-block.ts'
import type { TextBlockType } from '../text-block.ts'
import { ChatCall } from './call.ts'
import type { NameRules } from './call.ts'
import { isLasting } from './finish-reason.ts'
import { ThinkTagSplitter } from './think-tags.ts'
import { LEGACY_INDEX } from './tool-fragment.ts'
import type { ToolFragment } from './tool-fragment.ts'
import { CHOICE_KEYS, DELTA_KEYS } from './wire.ts'

export interface ChoiceOptions {
  readonly index: number
  readonly maxCalls: number
  readonly names: NameRules
  readonly idChange: 'conflict' | 'keep-first'
  readonly toolIndex: 'use' | 'ignore'
  readonly cumulativeText: boolean
  readonly thinkTags: boolean
  readonly ids: CallIds
  /** The response's own id, as far as it is known. */
  readonly responseId: () => string | undefined
}

/** After this many deltas that each repeat and extend the one before, text is said to look cumulative. */
const CUMULATIVE_GROWTHS = 4

/** One choice of a response: its blocks, its calls and how it finished. */
export class ChatChoice {
  readonly index: number
  readonly calls: SlotTable<ChatCall>
  readonly choiceFields: ProviderFields = new ProviderFields(CHOICE_KEYS, false)
  readonly deltaFields: ProviderFields = new ProviderFields(DELTA_KEYS, true)
  /** Set by the first finish reason; provisional until the wire's end. */
  finish: { reason: FinishReason; raw: string } | undefined
  /** Text, reasoning, a refusal or a call was seen. */
  hasContent = false
  readonly #options: ChoiceOptions
  readonly #writers: Partial<Record<TextBlockType, TextBlockWriter>> = {}
  readonly #openWriters = new Set<TextBlockWriter>()
  readonly #think: ThinkTagSplitter | undefined
  readonly #cumulative: Partial<Record<TextBlockType, string>> = {}
  #nextBlock = 0
  /** One of its calls came as `function_call`. */
  #legacy = false
  #previousText: string | undefined = ''
  #growths = 0

  constructor(options: ChoiceOptions) {
    this.#options = options
    this.index = options.index
    this.#think = options.thinkTags ? new ThinkTagSplitter() : undefined
    this.calls = new SlotTable<ChatCall>({
      maxCalls: options.maxCalls,
      idChange: options.idChange,
      create: (slot) =>
        new ChatCall(
          slot,
          this.index,
          this.#nextBlock++,
          options.ids.assign(slot.providerCallId, options.responseId(), this.index, slot.ordinal),
        ),
    })
  }

  text(type: TextBlockType, text: string, out: AdapterOutput): void {
    const fresh = this.#options.cumulativeText ? this.#suffix(type, text) : text
    if (fresh === '') return
    if (type === 'text' && this.#previousText !== undefined) this.#watchGrowth(text, out)
    if (type !== 'text' || this.#think === undefined) {
      this.#write(type, fresh, out)
      return
    }
    for (const piece of this.#think.push(fresh)) this.#write(piece.reasoning ? 'reasoning' : 'text', piece.text, out)
  }

  /** Gives a fragment to the call it belongs to. Returns false when there are too many calls. */
  tool(fragment: ToolFragment, afterSibling: boolean, invalidUtf8: boolean, out: AdapterOutput): boolean {
    this.hasContent = true
    if (fragment.index === LEGACY_INDEX) this.#legacy = true
    else if (this.#legacy && fragment.index === undefined && fragment.id === undefined) {
      out.skipped.push({
        message: 'a fragment of tool_calls has neither index nor id while a call came as function_call',
      })
      return true
    }
    const hasArguments = !isBlank(fragment.argumentsDelta)
    const match = this.calls.resolve({
      index: this.#options.toolIndex === 'ignore' && fragment.index !== LEGACY_INDEX ? undefined : fragment.index,
      id: fragment.id,
      name: fragment.name,
      hasArguments,
      afterSibling,
    })
    switch (match.kind) {
      case 'full':
        return false
      case 'ambiguous':
        for (const call of match.slots) call.conflict(match.message, out)
        return true
      case 'conflict':
        match.slot.conflict(match.message, out)
        return true
      case 'opened': {
        const call = match.slot
        if (this.finish !== undefined) out.note('content_after_finish')
        if (fragment.index === undefined) out.note('missing_index')
        if (call.providerCallId === undefined) out.note('missing_id')
        if (call.idRepeated || (call.providerCallId !== undefined && call.providerCallId !== call.callId))
          out.note('id_repeated')
        if (match.indexReused) out.note('index_reused')
        call.take(fragment, this.#options.names, invalidUtf8, out)
        return true
      }
      case 'continued':
        match.slot.take(fragment, this.#options.names, invalidUtf8, out)
        return true
    }
  }

  /**
   * The choice has a finish reason. It closes what is there, but stays provisional: later text is merged, later calls may open,
   * and a later reason replaces this one, except that a bad end is not taken back by a good one.
   */
  close(raw: string, reason: FinishReason, out: AdapterOutput): void {
    const before = this.finish?.reason
    if (before !== undefined && before !== reason) {
      out.note('finish_reason_mismatch', `"${clip(this.finish!.raw, 60)}" was followed by "${clip(raw, 60)}"`)
    }
    const lasting = before !== undefined && isLasting(before) && !isLasting(reason)
    // Reason and raw word stay together: the word of another reason would explain nothing.
    if (!lasting) this.finish = { reason, raw }
    this.flush(out)
    this.#endBlocks(out)
    this.calls.freeze()
    if (lasting || !permitsToolCalls(reason)) return
    for (const call of this.calls.slots) if (!call.ended) call.end(out)
  }

  /** Gives out whatever was held back. */
  flush(out: AdapterOutput): void {
    if (this.#think !== undefined) {
      for (const piece of this.#think.flush()) this.#write(piece.reasoning ? 'reasoning' : 'text', piece.text, out)
    }
    for (const writer of this.#openWriters) writer.flush(out)
    for (const call of this.calls.slots) if (!call.frozen) call.flush(out)
  }

  /** The wire has ended. */
  end(out: AdapterOutput): void {
    this.flush(out)
    if (this.finish === undefined) return
    this.#endBlocks(out)
    const { reason, raw } = this.finish
    const choice = this.index
    out.chunks.push(choice === 0 ? { type: 'finish', reason, raw } : { type: 'finish', choice, reason, raw })
  }

  #write(type: TextBlockType, text: string, out: AdapterOutput): void {
    if (this.finish !== undefined) out.note('content_after_finish')
    this.hasContent = true
    let writer = this.#writers[type]
    if (writer === undefined) {
      writer = new TextBlockWriter(type, this.index, this.#nextBlock++)
      this.#writers[type] = writer
    }
    this.#openWriters.add(writer)
    writer.write(text, out)
  }

  #endBlocks(out: AdapterOutput): void {
    for (const writer of this.#openWriters) writer.end(out)
    this.#openWriters.clear()
  }

  #suffix(type: TextBlockType, text: string): string {
    const before = this.#cumulative[type] ?? ''
    if (before !== '' && !text.startsWith(before)) return text
    this.#cumulative[type] = text
    return text.slice(before.length)
  }

  /** An honest stream fails this at its second delta and is never looked at again. */
  #watchGrowth(text: string, out: AdapterOutput): void {
    const previous = this.#previousText!
    if (previous !== '' && !(text.length > previous.length && text.startsWith(previous))) {
      this.#previousText = undefined
      return
    }
    if (previous !== '' && ++this.#growths === CUMULATIVE_GROWTHS && !this.#options.cumulativeText)
      out.note('cumulative_text')
    this.#previousText = text
  }
}

/** White space only; decided by the first character of nearly every text, without making another string. */
function isBlank(text: string): boolean {
  return text.length === 0 || (text.charCodeAt(0) <= 0x20 && text.trim() === '')
}
