import type { AdapterOutput } from '../adapter.ts'
import { TextBlockWriter } from '../text-block.ts'
import type { TextBlockType } from '../text-block.ts'
import type { PartList } from './event-table.ts'

/**
 * One part of text of an item, a block of its own. The wire says it up to five times: in deltas, when its text is done, when the
 * part is done, when the item is done, and in the final response. The first telling is shown, the later ones are checked.
 */
export class TextPart {
  readonly type: TextBlockType
  readonly list: PartList
  readonly at: number
  readonly annotations: unknown[] = []
  readonly logprobs: unknown[] = []
  ended = false
  #opened = false
  readonly #index: number
  readonly #writer: TextBlockWriter
  /** The stream was resumed in the middle of this text: what came is its tail. */
  readonly #isTail: boolean
  #text = ''
  /** A restated text that is not what the deltas said: it counts. */
  #restated: string | undefined
  #metadata: Readonly<Record<string, unknown>> | undefined

  constructor(type: TextBlockType, list: PartList, at: number, index: number, isTail: boolean) {
    this.type = type
    this.list = list
    this.at = at
    this.#index = index
    this.#writer = new TextBlockWriter(type, 0, index)
    this.#isTail = isTail
  }

  add(text: string, out: AdapterOutput): void {
    if (text === '') return
    this.#text += text
    this.ended = false
    this.#opened = true
    this.#writer.write(text, out)
  }

  /** The wire says the whole text. An empty one says nothing: some servers leave it empty in their `done` events. */
  restate(text: string, out: AdapterOutput): void {
    const before = this.#text
    if (text === before || text === '' || (this.#isTail && text.endsWith(before))) return
    const again = this.ended
    if (text.startsWith(before)) {
      if (before !== '') out.note('deltas_incomplete', this.type)
      this.add(text.slice(before.length), out)
    } else {
      out.note('text_restated', this.type)
      this.#text = text
      this.#restated = text
    }
    if (again) this.end(this.#metadata, out)
  }

  end(metadata: Readonly<Record<string, unknown>> | undefined, out: AdapterOutput): void {
    this.ended = true
    this.#metadata = metadata
    if (!this.#opened && this.#restated === undefined) {
      // Nothing of it is shown; reasoning must be echoed all the same.
      if (metadata === undefined || this.type !== 'reasoning') return
      this.#opened = true
      out.chunks.push({ type: 'block-start', index: this.#index, blockType: this.type })
    }
    if (this.#restated === undefined) {
      this.#writer.end(out, metadata)
      return
    }
    this.#writer.flush(out)
    out.chunks.push({
      type: 'block-end',
      index: this.#index,
      block: { type: this.type, index: this.#index, text: this.#restated, status: 'done' },
      ...(metadata !== undefined && { metadata }),
    })
    this.#restated = undefined
  }

  flush(out: AdapterOutput): void {
    this.#writer.flush(out)
  }
}
