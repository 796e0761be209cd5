import { clip } from '../../json/clip.ts'
import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterOutput } from '../adapter.ts'
import type { CallIds } from '../call-id.ts'
import { isKeepable } from '../kept-value.ts'
import { SlotTable } from '../slot.ts'
import type { IndexKey } from '../slot.ts'
import { isRecord } from '../wire-value.ts'
import { OpaqueBlock, ProseBlock } from './block.ts'
import type { ContentBlock } from './block.ts'
import { MessageCall } from './call.ts'
import { readCallStart } from './call-start.ts'
import { indexKey } from './block-index.ts'
import { CALL_TYPES, isSaid, TEXT_KEYS, THINKING_KEYS } from './wire.ts'

type Wire = Readonly<Record<string, unknown>>

export interface ContentOptions {
  readonly maxCalls: number
  readonly idChange: 'conflict' | 'keep-first'
  readonly ids: CallIds
  /** The message's own id, as far as it is known. */
  readonly messageId: () => string | undefined
  /** A stop reason was seen. */
  readonly isFinished: () => boolean
}

/**
 * The content blocks of one message. A block is found by its wire index alone, which is an opaque key: blocks may take turns, skip
 * numbers, or use one again (faults F158–F160). Input is never given to a call that it was not sent to.
 */
export class MessageContent {
  /** Text, a call or an opaque block was seen: what came can't be taken back. */
  begun = false
  readonly #options: ContentOptions
  readonly #calls: SlotTable<MessageCall>
  /** The newest block at each wire index. */
  readonly #blocks = new Map<IndexKey, ContentBlock | MessageCall>()
  /** Blocks that were not stopped, with their wire index. */
  readonly #open = new Map<ContentBlock | MessageCall, IndexKey>()
  /** Text that came without the start of a block, by its kind and wire index. */
  readonly #undeclared = new Map<string, ProseBlock>()
  #nextBlock = 0
  #reused = 0

  constructor(options: ContentOptions) {
    this.#options = options
    this.#calls = new SlotTable<MessageCall>({
      maxCalls: options.maxCalls,
      idChange: options.idChange,
      create: (slot) =>
        new MessageCall(
          slot,
          this.#nextBlock++,
          options.ids.assign(slot.providerCallId, options.messageId(), 0, slot.ordinal),
        ),
    })
  }

  /** Returns false when there are too many calls. */
  start(index: unknown, raw: unknown, event: ServerSentEvent, out: AdapterOutput): boolean {
    const key = this.#keyOfStart(index, out)
    if (key === undefined) return true
    if (!isRecord(raw)) {
      out.skipped.push({ message: 'the block that starts here is not an object' })
      return true
    }
    if (this.#options.isFinished()) out.note('content_after_finish')
    const type = typeof raw['type'] === 'string' ? raw['type'] : ''
    const call = CALL_TYPES[type]
    if (call !== undefined) return this.#startCall(key, raw, type, call.providerExecuted, event, out)
    this.#leave(key, out)
    switch (type) {
      case 'text':
        this.#startText(key, raw, out)
        break
      case 'thinking':
        this.#startThinking(key, raw, out)
        break
      default:
        this.#startOpaque(key, raw, type, out)
    }
    return true
  }

  delta(index: unknown, raw: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    const key = this.#keyOfDelta(index, out)
    if (key === undefined) return
    if (!isRecord(raw)) {
      // `null` says nothing, but a delta that is not there was lost.
      if (raw !== null) out.skipped.push({ message: 'the delta of a block is not an object' })
      return
    }
    const block = this.#blocks.get(key)
    switch (raw['type']) {
      case 'text_delta':
        this.#text(block, key, 'text', raw['text'], out)
        break
      case 'thinking_delta':
        this.#text(block, key, 'reasoning', raw['thinking'], out)
        break
      case 'input_json_delta':
        this.#input(block, raw['partial_json'], event, out)
        break
      case 'signature_delta':
        if (typeof raw['signature'] !== 'string') out.skipped.push({ message: 'a signature is no text' })
        else if (block instanceof ProseBlock) block.keep('signature', raw['signature'])
        else if (block instanceof OpaqueBlock) block.keepDelta(raw)
        else out.note('missing_block_start', 'signature_delta')
        break
      case 'citations_delta':
        if (block instanceof ProseBlock) block.cite(raw['citation'])
        else out.note('missing_block_start', 'citations_delta')
        break
      default:
        this.#unknownDelta(block, raw, out)
    }
  }

  stop(index: unknown, out: AdapterOutput): void {
    const key = this.#keyOfDelta(index, out)
    const block = key === undefined ? undefined : this.#blocks.get(key)
    if (block === undefined || !this.#open.has(block)) {
      if (key !== undefined) this.#stopUndeclared(key, out)
      return
    }
    this.#open.delete(block)
    block.stop(out)
  }

  /** A stop reason that permits calls also closes those that came behind the stop reason before it. */
  closeLate(out: AdapterOutput): void {
    for (const call of this.#calls.slots) {
      if (!call.late) continue
      call.late = false
      if (call.frozen) call.end(out)
    }
  }

  /**
   * The wire has ended. Blocks that it never closed are closed by the end of the message, a call only where its input is one whole
   * document (fault F160); after a cut they stay open.
   */
  end(whole: boolean, out: AdapterOutput): void {
    for (const block of this.#open.keys()) {
      if (block instanceof MessageCall) {
        block.settleInput(out)
        if (!whole || block.late || block.arguments.state !== 'whole') continue
        out.note('call_close_inferred')
        block.stop(out)
      } else if (whole) block.stop(out)
      else block.abandon(out)
    }
    for (const block of this.#undeclared.values()) block.stop(out)
    this.#open.clear()
    this.#undeclared.clear()
  }

  /** Nothing was said yet, and another server begins anew: its blocks are not those of the first. */
  restart(out: AdapterOutput): void {
    for (const block of this.#open.keys()) block.stop(out)
    this.#open.clear()
    this.#blocks.clear()
  }

  #startText(key: IndexKey, raw: Wire, out: AdapterOutput): void {
    const block = this.#startProse(key, 'text', out)
    for (const name of Object.keys(raw)) if (!TEXT_KEYS.has(name) && isSaid(raw[name])) block.keep(name, raw[name])
    if (Array.isArray(raw['citations'])) for (const citation of raw['citations']) block.cite(citation)
    this.#append(block, raw['text'], out)
  }

  #startThinking(key: IndexKey, raw: Wire, out: AdapterOutput): void {
    const block = this.#startProse(key, 'reasoning', out)
    for (const name of Object.keys(raw)) if (!THINKING_KEYS.has(name) && isSaid(raw[name])) block.keep(name, raw[name])
    this.#append(block, raw['thinking'], out)
  }

  #startProse(key: IndexKey, type: 'text' | 'reasoning', out: AdapterOutput): ProseBlock {
    const block = new ProseBlock(key, type, this.#nextBlock++)
    this.#hold(key, block)
    block.begin(out)
    return block
  }

  #startOpaque(key: IndexKey, raw: Wire, type: string, out: AdapterOutput): void {
    this.begun = true
    const block = new OpaqueBlock(key, type === 'redacted_thinking' ? 'reasoning' : 'opaque', this.#nextBlock++)
    this.#hold(key, block)
    if (isKeepable(raw)) block.show(raw, out)
    else {
      out.note('unexpected_field', `a block of type ${quote(type)} nests too deeply to be kept`)
      block.show({ type }, out)
    }
  }

  #startCall(
    key: IndexKey,
    raw: Wire,
    type: string,
    providerExecuted: boolean,
    event: ServerSentEvent,
    out: AdapterOutput,
  ): boolean {
    this.begun = true
    const start = readCallStart(raw, type, providerExecuted, event, out)
    // Behind the stop of the block before it, an index means another block.
    const before = this.#blocks.get(key)
    const known = before instanceof MessageCall ? before : undefined
    const slotKey = known === undefined ? key : known.frozen ? `${key}#${++this.#reused}` : known.key
    if (known === undefined) this.#leave(key, out)
    const match = this.#calls.resolve({
      index: slotKey,
      id: start.id,
      name: start.name,
      hasArguments: true,
      afterSibling: false,
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
      case 'continued':
        match.slot.beginAgain(start, out)
        return true
      case 'opened': {
        const call = match.slot
        if (start.id === undefined) out.note('missing_id')
        else if (call.idRepeated || start.id !== call.callId) out.note('id_repeated')
        if (known !== undefined) out.note('index_reused')
        call.late = this.#options.isFinished()
        this.#hold(key, call)
        call.begin(start, out)
        return true
      }
    }
  }

  #text(
    block: ContentBlock | MessageCall | undefined,
    key: IndexKey,
    type: 'text' | 'reasoning',
    text: unknown,
    out: AdapterOutput,
  ): void {
    if (this.#options.isFinished() && text !== '') out.note('content_after_finish')
    if (block instanceof ProseBlock && block.open && block.type === type) {
      this.#append(block, text, out)
      return
    }
    if (text === '' || text === null || text === undefined) return
    out.note('missing_block_start', `${type} for index ${quote(String(key))}`)
    const name = `${type} ${key}`
    let own = this.#undeclared.get(name)
    if (own === undefined) {
      own = new ProseBlock(key, type, this.#nextBlock++)
      this.#undeclared.set(name, own)
    }
    this.#append(own, text, out)
  }

  #stopUndeclared(key: IndexKey, out: AdapterOutput): void {
    out.note('missing_block_start', `stop of index ${quote(String(key))}`)
    for (const type of ['text', 'reasoning'] as const) {
      this.#undeclared.get(`${type} ${key}`)?.stop(out)
      this.#undeclared.delete(`${type} ${key}`)
    }
  }

  #append(block: ProseBlock, text: unknown, out: AdapterOutput): void {
    if (typeof text !== 'string') {
      if (text !== null && text !== undefined) out.skipped.push({ message: 'the text of a block is no text' })
      return
    }
    if (text === '') return
    this.begun = true
    block.append(text, out)
  }

  #input(
    block: ContentBlock | MessageCall | undefined,
    text: unknown,
    event: ServerSentEvent,
    out: AdapterOutput,
  ): void {
    if (text === '' && block instanceof MessageCall) block.touch()
    if (text === null || text === '') return
    if (typeof text !== 'string') {
      out.skipped.push({ message: 'a piece of input is no text' })
      return
    }
    if (block instanceof OpaqueBlock) {
      block.keepDelta({ type: 'input_json_delta', partial_json: text })
      return
    }
    if (!(block instanceof MessageCall)) {
      out.skipped.push({ message: `input came for a block that is no call, or was never started: ${clip(text, 80)}` })
      return
    }
    const match = this.#calls.resolve({
      index: block.key,
      id: undefined,
      name: undefined,
      hasArguments: true,
      afterSibling: false,
    })
    if (match.kind === 'ambiguous') for (const call of match.slots) call.conflict(match.message, out)
    else block.append(text, event.invalidUtf8 === true, out)
  }

  #unknownDelta(block: ContentBlock | MessageCall | undefined, raw: Wire, out: AdapterOutput): void {
    const type = typeof raw['type'] === 'string' ? raw['type'] : ''
    if (block instanceof MessageCall) {
      out.skipped.push({ message: `a delta of a kind that is not known came for a call: ${quote(type)}` })
    } else if (type === 'compaction_delta' && block instanceof OpaqueBlock) {
      const { type: _, ...fields } = raw
      if (!isKeepable(fields) || !block.extend(fields, out))
        out.note('unexpected_field', 'a compaction_delta that is more than can be kept')
    } else {
      out.note('unknown_event', `delta ${quote(type)}`)
      if (block instanceof OpaqueBlock) block.keepDelta(raw)
      else if (block instanceof ProseBlock) block.keep(type, raw)
    }
  }

  /** Another block begins at this index. A block of text ends with that; a call does not, for nothing closed it. */
  #leave(key: IndexKey, out: AdapterOutput): void {
    const before = this.#blocks.get(key)
    if (before === undefined || !this.#open.has(before)) return
    out.note('index_reused')
    if (before instanceof MessageCall) return
    this.#open.delete(before)
    before.stop(out)
  }

  #hold(key: IndexKey, block: ContentBlock | MessageCall): void {
    this.#blocks.set(key, block)
    this.#open.set(block, key)
  }

  #keyOfStart(index: unknown, out: AdapterOutput): IndexKey | undefined {
    const key = indexKey(index)
    if (key !== null) return this.#readable(key, out)
    out.note('missing_index')
    return `start ${this.#nextBlock}`
  }

  /** Without an index it is meant for the only open block. */
  #keyOfDelta(index: unknown, out: AdapterOutput): IndexKey | undefined {
    const key = indexKey(index)
    if (key !== null) return this.#readable(key, out)
    out.note('missing_index')
    if (this.#open.size === 1) for (const only of this.#open.values()) return only
    if (this.#open.size === 0) return 'no index'
    out.skipped.push({ message: `an event names no index while ${this.#open.size} blocks are open` })
    return undefined
  }

  #readable(key: IndexKey | undefined, out: AdapterOutput): IndexKey | undefined {
    if (key === undefined) out.skipped.push({ message: 'the index of a block is no number' })
    return key
  }
}

function quote(text: string): string {
  return `"${clip(text, 60)}"`
}
