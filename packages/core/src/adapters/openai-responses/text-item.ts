import { clip } from '../../json/clip.ts'
import type { AdapterOutput } from '../adapter.ts'
import { isKeepable, printed } from '../kept-value.ts'
import type { TextBlockType } from '../text-block.ts'
import { identity, isNothing, isRecord } from '../wire-value.ts'
import type { PartList } from './event-table.ts'
import { TextPart } from './text-part.ts'

/** Blocks of the response are numbered in order of first appearance. */
export interface BlockNumbers {
  next(): number
}

type Raw = Readonly<Record<string, unknown>>

/** A `message` or `reasoning` item: parts of text, each a block. */
export class TextItem {
  readonly kind = 'text'
  readonly type: string
  id: string | undefined
  /** The wire said that the item is whole. */
  done = false
  readonly #blocks: BlockNumbers
  readonly #isTail: boolean
  readonly #parts = new Map<string, TextPart>()
  #last: TextPart | undefined
  #raw: Raw

  /** @param isTail the item was begun before this stream was resumed. */
  constructor(type: string, raw: Raw, blocks: BlockNumbers, isTail: boolean) {
    this.type = type
    this.id = identity(raw['id'])
    this.#raw = raw
    this.#blocks = blocks
    this.#isTail = isTail
  }

  part(type: TextBlockType, list: PartList, at: number): TextPart {
    const last = this.#last
    if (last !== undefined && last.at === at && last.type === type && last.list === list) return last
    const key = keyOf(type, list, at)
    let part = this.#parts.get(key)
    if (part === undefined) {
      part = new TextPart(type, list, at, this.#blocks.next(), this.#isTail)
      this.#parts.set(key, part)
    }
    this.#last = part
    return part
  }

  /** The text at this place, which is annotated there. */
  text(at: number): TextPart | undefined {
    return this.#parts.get(keyOf('text', 'content', at))
  }

  /** The wire restates one part, and with `ends` closes it. Reasoning ends with its item, which has what must be echoed. */
  restatePart(raw: unknown, list: PartList, at: number, ends: boolean, out: AdapterOutput): void {
    const read = readPart(raw, out)
    if (read === undefined) return
    const { type, text } = read
    if (text === '' && !this.#parts.has(keyOf(type, list, at))) return
    const part = this.part(type, list, at)
    part.restate(text, out)
    if (isRecord(raw)) keepLists(raw, part)
    if (ends && type !== 'reasoning' && !part.ended) part.end(this.#metadataOf(part), out)
  }

  /** The wire restates the whole item: when it is done, and again in the final response. */
  restate(raw: Raw, out: AdapterOutput): void {
    const first = !this.done
    this.done = true
    this.#raw = raw
    this.id = identity(raw['id']) ?? this.id
    this.#restateList(raw['content'], 'content', first, out)
    this.#restateList(raw['summary'], 'summary', first, out)
    if (!first) return
    if (this.type === 'reasoning') this.#endReasoning(out)
    else for (const part of this.#parts.values()) if (!part.ended) part.end(this.#metadataOf(part), out)
  }

  flush(out: AdapterOutput): void {
    for (const part of this.#parts.values()) part.flush(out)
  }

  #restateList(list: unknown, name: PartList, first: boolean, out: AdapterOutput): void {
    if (isNothing(list)) return
    if (!Array.isArray(list)) {
      out.skipped.push({ message: `${name} of an item is not a list` })
      return
    }
    const others: unknown[] = []
    for (const [at, part] of (list as readonly unknown[]).entries()) {
      if (isRecord(part) && blockTypeOf(part) === undefined) others.push(part)
      else if (part !== null) this.restatePart(part, name, at, false, out)
    }
    const kept = others.filter(isKeepable)
    if (first && kept.length > 0) out.chunks.push({ type: 'metadata', choice: 0, append: { content: kept } })
  }

  /**
   * A reasoning item must be sent back whole in the next turn, with its id and its encrypted content, even where there is no text
   * to show. The last of its blocks keeps it.
   */
  #endReasoning(out: AdapterOutput): void {
    const item = isKeepable(this.#raw) ? { item: this.#raw } : undefined
    const parts = [...this.#parts.values()]
    for (const part of parts) part.end(part === parts.at(-1) ? item : undefined, out)
    if (parts.length > 0 || item === undefined) return
    const index = this.#blocks.next()
    out.chunks.push({ type: 'block-start', index, blockType: 'reasoning' })
    out.chunks.push({ type: 'block-end', index, metadata: item })
  }

  /** What the text of a message needs to be sent back as the item it was: the item but for its content. */
  #metadataOf(part: TextPart): Record<string, unknown> | undefined {
    const { content: _, ...item } = this.#raw
    const metadata = {
      ...(Object.keys(item).length > 0 && isKeepable(item) && { item }),
      ...(part.annotations.length > 0 && { annotations: part.annotations.slice() }),
      ...(part.logprobs.length > 0 && { logprobs: part.logprobs.slice() }),
    }
    return Object.keys(metadata).length > 0 ? metadata : undefined
  }
}

/** Which kind of block a part is; undefined for parts that hold no text. */
export function blockTypeOf(part: Raw): TextBlockType | undefined {
  switch (part['type']) {
    case 'output_text':
    case 'text':
      return 'text'
    case 'refusal':
      return 'refusal'
    case 'reasoning_text':
    case 'summary_text':
      return 'reasoning'
    default:
      return undefined
  }
}

function readPart(
  part: unknown,
  out: AdapterOutput,
): { readonly type: TextBlockType; readonly text: string } | undefined {
  if (isNothing(part)) {
    out.note('unexpected_field', 'part')
    return undefined
  }
  if (!isRecord(part)) {
    out.skipped.push({ message: `a part is not an object: ${clip(printed(part), 80)}` })
    return undefined
  }
  const type = blockTypeOf(part)
  if (type === undefined) return undefined
  const text = part[type === 'refusal' ? 'refusal' : 'text'] ?? ''
  if (typeof text === 'string') return { type, text }
  out.skipped.push({ message: `the ${type} of a part is not text` })
  return undefined
}

/** Annotations and log probabilities as the part restates them; those that came one by one count where it does not. */
function keepLists(raw: Raw, part: TextPart): void {
  replace(part.annotations, raw['annotations'])
  replace(part.logprobs, raw['logprobs'])
}

function replace(list: unknown[], by: unknown): void {
  if (!Array.isArray(by) || by.length === 0 || !isKeepable(by)) return
  list.length = 0
  for (const each of by as readonly unknown[]) list.push(each)
}

function keyOf(type: TextBlockType, list: PartList, at: number): string {
  return `${type} ${list} ${at}`
}
