/** Cuts text into what a reader takes for one character: an emoji with its modifiers, a letter with its accents. */
export class GraphemeSplitter {
  readonly #segmenter: Intl.Segmenter | undefined

  constructor() {
    // Firefox has it since 2024. Without it nothing is split but surrogate pairs and the joiners below.
    this.#segmenter =
      typeof Intl.Segmenter === 'function' ? new Intl.Segmenter('und', { granularity: 'grapheme' }) : undefined
  }

  /** The graphemes of the text. The last one may still grow by text that follows. */
  split(text: string): readonly string[] {
    if (this.#segmenter === undefined) return text.match(CLUSTERS) ?? []
    const graphemes: string[] = []
    for (const { segment } of this.#segmenter.segment(text)) graphemes.push(segment)
    return graphemes
  }
}

/** A pair of regional indicators, or a character with its marks, modifiers, variation selectors and what is joined to it. */
const CLUSTERS = /\r\n|\p{RI}{2}|\P{M}(?:\p{M}|\p{EMod}|[\uFE00-\uFE0F\u{E0020}-\u{E007F}]|\u200D\P{M})*|\p{M}+/gsu
