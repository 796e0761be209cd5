const OPEN = '<think>'
const CLOSE = '</think>'
/** An answer that begins with more white space than this has no thinking in front. */
const MOST_HELD = 256

/** Where a piece of text belongs. */
export interface ThinkPiece {
  readonly reasoning: boolean
  readonly text: string
}

/**
 * Splits text at `<think>` and `</think>`, however the tags are cut over deltas (fault F047). Only a block at the very
 * start of the answer counts: a tag in the middle of an answer or of code is text. An orphan `</think>` (the opening tag
 * was in the prompt) can't be told from text without waiting for it, so it is left in the text. Nothing is lost or repeated:
 * what looks like the start of a tag is held back until it is decided, and given out by {@link ThinkTagSplitter.flush}.
 */
export class ThinkTagSplitter {
  #state: 'start' | 'thinking' | 'answer' = 'start'
  #held = ''

  push(text: string): readonly ThinkPiece[] {
    if (this.#state === 'answer') return [{ reasoning: false, text }]
    const pieces: ThinkPiece[] = []
    let rest = this.#held + text
    this.#held = ''
    if (this.#state === 'start') {
      const body = rest.trimStart()
      if (body.length < OPEN.length && OPEN.startsWith(body) && rest.length <= MOST_HELD) {
        this.#held = rest
        return pieces
      }
      if (!body.startsWith(OPEN)) {
        this.#state = 'answer'
        return [{ reasoning: false, text: rest }]
      }
      this.#state = 'thinking'
      rest = body.slice(OPEN.length)
    }
    const end = rest.indexOf(CLOSE)
    if (end >= 0) {
      this.#state = 'answer'
      if (end > 0) pieces.push({ reasoning: true, text: rest.slice(0, end) })
      const answer = rest.slice(end + CLOSE.length)
      if (answer !== '') pieces.push({ reasoning: false, text: answer })
      return pieces
    }
    const keep = tagStartAtEnd(rest)
    if (keep > 0) this.#held = rest.slice(rest.length - keep)
    if (rest.length > keep) pieces.push({ reasoning: true, text: rest.slice(0, rest.length - keep) })
    return pieces
  }

  flush(): readonly ThinkPiece[] {
    if (this.#held === '') return []
    const piece = { reasoning: this.#state === 'thinking', text: this.#held }
    this.#held = ''
    return [piece]
  }
}

/** Length of the longest end of `text` that begins the closing tag. */
function tagStartAtEnd(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--) {
    if (CLOSE.startsWith(text.slice(text.length - length))) return length
  }
  return 0
}
