import type { AdapterOutput } from './adapter.ts'
import { endsInHalf } from './half-character.ts'

export type TextBlockType = 'text' | 'reasoning' | 'refusal'

/**
 * Writes the deltas of one text block. A character outside the basic plane may be cut into its two UTF-16 halves by the
 * sender; the first half is held until the second comes, so that every delta is well formed (fault F203).
 */
export class TextBlockWriter {
  readonly #type: TextBlockType
  readonly #choice: number
  readonly #index: number
  #held = ''

  constructor(type: TextBlockType, choice: number, index: number) {
    this.#type = type
    this.#choice = choice
    this.#index = index
  }

  write(text: string, out: AdapterOutput): void {
    let whole = text
    if (this.#held !== '') {
      whole = this.#held + text
      this.#held = ''
    }
    if (endsInHalf(whole)) {
      this.#held = whole.slice(-1)
      whole = whole.slice(0, -1)
    }
    if (whole !== '') this.#emit(whole, out)
  }

  /** Gives out a half character that never got its other half; it stays as it was sent. */
  flush(out: AdapterOutput): void {
    if (this.#held === '') return
    this.#emit(this.#held, out)
    this.#held = ''
  }

  /** @param metadata provider fields of this block, to be echoed. */
  end(out: AdapterOutput, metadata?: Readonly<Record<string, unknown>>): void {
    this.flush(out)
    const choice = this.#choice
    const index = this.#index
    if (metadata !== undefined) out.chunks.push({ type: 'block-end', ...(choice !== 0 && { choice }), index, metadata })
    else out.chunks.push(choice === 0 ? { type: 'block-end', index } : { type: 'block-end', choice, index })
  }

  #emit(text: string, out: AdapterOutput): void {
    const type = DELTA_TYPES[this.#type]
    const choice = this.#choice
    const index = this.#index
    out.chunks.push(choice === 0 ? { type, index, text } : { type, choice, index, text })
  }
}

const DELTA_TYPES = {
  text: 'text-delta',
  reasoning: 'reasoning-delta',
  refusal: 'refusal-delta',
} as const
