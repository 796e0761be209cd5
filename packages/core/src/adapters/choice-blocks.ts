import type { StreamChunk } from '../chunk/chunk.ts'
import { permitsToolCalls } from '../chunk/finish-reason.ts'
import type { FinishReason } from '../chunk/finish-reason.ts'
import { clip } from '../json/clip.ts'
import type { AdapterOutput } from './adapter.ts'
import { ThinkTagSplitter } from './openai-chat/think-tags.ts'
import { TextBlockWriter } from './text-block.ts'
import type { TextBlockType } from './text-block.ts'

/** What the wire calls a block; formats that have no such key leave it out, and their blocks follow one another. */
export type BlockKey = number | string

export type BlockMetadata = Readonly<Record<string, unknown>>

/**
 * The blocks of one choice and how it finished, for formats whose blocks come one after the other or under a key of the wire.
 * Keys of the chunks are allocated in order of first appearance.
 */
export class ChoiceBlocks {
  readonly index: number
  /** Provisional until the wire's end. */
  finish: { readonly reason: FinishReason; readonly raw: string | null } | undefined
  /** Text, reasoning, a refusal or a call was seen. */
  hasContent = false
  /** Content came after a finish reason: this server's finish reasons are no end. */
  finishedEarly = false
  #next = 0
  readonly #open = new Map<BlockKey, OpenText>()
  readonly #think: ThinkTagSplitter | undefined

  /** @param options `thinkTags`: text without a key may begin with reasoning between tags (fault F047). Default false. */
  constructor(index: number, { thinkTags = false }: { readonly thinkTags?: boolean } = {}) {
    this.index = index
    this.#think = thinkTags ? new ThinkTagSplitter() : undefined
  }

  /** The key of a new block that is no text. It ends the text that has no key of its own, for that came before it. */
  begin(out: AdapterOutput): number {
    this.#flushThink(out)
    this.endText(out)
    this.#content(out)
    return this.#next++
  }

  /** Appends text to the block under this key; another kind of text under the same key is another block. */
  text(type: TextBlockType, text: string, out: AdapterOutput, key: BlockKey = UNKEYED): void {
    if (this.#think === undefined || type !== 'text' || key !== UNKEYED) {
      this.#write(type, text, out, key)
      return
    }
    for (const piece of this.#think.push(text))
      this.#write(piece.reasoning ? 'reasoning' : 'text', piece.text, out, key)
  }

  /** Ends the text block under this key, if one is open. */
  endText(out: AdapterOutput, key: BlockKey = UNKEYED, metadata?: BlockMetadata): void {
    const open = this.#open.get(key)
    if (open === undefined) return
    this.#open.delete(key)
    open.writer.end(out, metadata)
  }

  /**
   * Keeps provider fields with the text of this kind under the key, and ends it: more text is another block, which they do not
   * sign. Without such a text they get a block of their own, so that they can be echoed in their place.
   */
  sign(type: TextBlockType, metadata: BlockMetadata, out: AdapterOutput, key: BlockKey = UNKEYED): void {
    const open = this.#open.get(key)
    if (open?.type === type) {
      this.endText(out, key, metadata)
      return
    }
    this.endText(out, key)
    this.#block(type, metadata, out)
  }

  /** Content that only its provider can read, kept in its place. */
  opaque(metadata: BlockMetadata, out: AdapterOutput): void {
    this.endText(out)
    this.#block('opaque', metadata, out)
  }

  /**
   * The choice has a finish reason: text blocks end. It stays provisional: later text is merged, and a later reason replaces it,
   * except that a bad end is not taken back by a good one. Returns whether calls that came so far may be closed.
   */
  close(raw: string | null, reason: FinishReason, out: AdapterOutput): boolean {
    const before = this.finish
    if (before !== undefined && before.reason !== reason) {
      out.note('finish_reason_mismatch', `"${clip(before.raw ?? '', 60)}" was followed by "${clip(raw ?? '', 60)}"`)
    }
    this.#flushThink(out)
    const permits = permitsToolCalls(reason)
    const lasting = before !== undefined && before.reason !== reason && !permitsToolCalls(before.reason) && permits
    if (!lasting) this.finish = { reason, raw }
    this.#endTexts(out)
    return permits && !lasting
  }

  /** The wire has ended. @param hasCalls the choice has calls that wait to be run, for which this format has no reason of its own. */
  end(out: AdapterOutput, hasCalls = false): void {
    if (this.finish === undefined) {
      this.#flushThink(out)
      for (const { writer } of this.#open.values()) writer.flush(out)
      return
    }
    this.#endTexts(out)
    const { raw } = this.finish
    const reason = this.finish.reason === 'stop' && hasCalls ? 'tool-calls' : this.finish.reason
    out.chunks.push(this.#own({ type: 'finish', reason, raw }))
  }

  #content(out: AdapterOutput): void {
    this.hasContent = true
    if (this.finish === undefined) return
    this.finishedEarly = true
    out.note('content_after_finish')
  }

  #textBlock(type: TextBlockType, out: AdapterOutput, key: BlockKey): OpenText {
    const open = this.#open.get(key)
    if (open?.type === type) return open
    this.endText(out, key)
    const index = this.#next++
    const opened = { type, writer: new TextBlockWriter(type, this.index, index) }
    this.#open.set(key, opened)
    return opened
  }

  #write(type: TextBlockType, text: string, out: AdapterOutput, key: BlockKey): void {
    if (text === '') return
    this.#content(out)
    this.#textBlock(type, out, key).writer.write(text, out)
  }

  /** What looked like the beginning of a tag, and was none. */
  #flushThink(out: AdapterOutput): void {
    for (const piece of this.#think?.flush() ?? [])
      this.#write(piece.reasoning ? 'reasoning' : 'text', piece.text, out, UNKEYED)
  }

  #endTexts(out: AdapterOutput): void {
    this.#flushThink(out)
    for (const key of this.#open.keys()) this.endText(out, key)
  }

  #block(blockType: TextBlockType | 'opaque', metadata: BlockMetadata, out: AdapterOutput): void {
    const index = this.#next++
    out.chunks.push(this.#own({ type: 'block-start', index, blockType }))
    out.chunks.push(this.#own({ type: 'block-end', index, metadata }))
  }

  #own<Chunk extends StreamChunk>(chunk: Chunk): Chunk {
    return this.index === 0 ? chunk : { ...chunk, choice: this.index }
  }
}

interface OpenText {
  readonly type: TextBlockType
  readonly writer: TextBlockWriter
}

const UNKEYED = 'unkeyed'
