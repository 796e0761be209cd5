/**
 * Reads the changing part of payloads that are otherwise identical, without parsing the rest again.
 *
 * Servers send hundreds of payloads that differ in one value only (and, at some, in one padding string). After a payload
 * `P v S` was parsed, its text around that value is remembered. When the next payload is `P w S` — two string equalities —
 * then parsing it would give the remembered result with `w` parsed in place of `v`: JSON is context-free at a value's place,
 * so one whole value can be swapped for another without touching the meaning of the rest. Nothing is guessed from the look of
 * a payload: that the hole is the wanted value is proven when it is learned, by parsing the text once more with a marker in
 * the hole and finding the marker where the value belongs. Whatever does not match is parsed as a whole.
 *
 * It is an optimisation and nothing else: the same chunks come out with it and without it.
 */
export interface PayloadTemplateOptions {
  /** Text in front of the value, with its colon: `"delta":`. */
  readonly key: string
  /** The value in a parsed payload. */
  readonly valueOf: (payload: unknown) => unknown
  /** Text in front of a padding string whose content means nothing, with its opening quote: `"obfuscation":"`. */
  readonly paddingKey?: string
  readonly paddingOf?: (payload: unknown) => unknown
}

const MARKER = '\u0001streamfold\u0001'
const MARKER_JSON = '"\\u0001streamfold\\u0001"'
const MARKER_INNER = '\\u0001streamfold\\u0001'
/** A wire on which this many templates in a row were learned for nothing is not learned from again. */
const VAIN_LESSONS = 4

export class PayloadTemplate {
  /** The value's text, `from` to `to` in the payload, after a match. */
  from = 0
  to = 0
  readonly #options: PayloadTemplateOptions
  #prefix: string | undefined
  /** Behind the value; with padding, up to and with its opening quote. */
  #suffix = ''
  /** Behind the padding, from its closing quote; `''` when there is none. */
  #tail = ''
  #padded = false
  #vain = 0

  constructor(options: PayloadTemplateOptions) {
    this.#options = options
  }

  /** True when `data` is the remembered payload with another value; `from` and `to` then say where the value is. */
  match(data: string): boolean {
    const prefix = this.#prefix
    if (prefix === undefined || data.slice(0, prefix.length) !== prefix) return false
    let end = data.length
    if (this.#padded) {
      const tail = this.#tail
      end -= tail.length
      if (end < prefix.length || data.slice(end) !== tail) return false
      // The padding ends where the tail begins; its opening quote is the nearest one before, for a plain string has none inside.
      const open = data.lastIndexOf('"', end - 1)
      if (open < prefix.length || !isPlain(data, open + 1, end)) return false
      end = open + 1
    }
    const suffix = this.#suffix
    const to = end - suffix.length
    if (to <= prefix.length || data.slice(to, end) !== suffix) return false
    this.from = prefix.length
    this.to = to
    this.#vain = 0
    return true
  }

  /** Forgets the remembered payload: one of another form was read. */
  forget(): void {
    this.#prefix = undefined
  }

  /** Learns from a payload that was just parsed. */
  learn(data: string): void {
    this.#prefix = undefined
    if (this.#vain >= VAIN_LESSONS) return
    this.#vain++
    const { key, valueOf, paddingKey, paddingOf } = this.#options
    const at = data.indexOf(key)
    if (at < 0) return
    const from = at + key.length
    const to = endOfObject(data, from)
    if (to < 0) return
    const prefix = data.slice(0, from)
    let suffix = data.slice(to)
    let tail = ''
    const padding = paddingKey === undefined ? -1 : suffix.indexOf(paddingKey)
    const padded = padding >= 0
    if (padded) {
      const open = padding + paddingKey!.length
      const close = suffix.indexOf('"', open)
      if (close < 0 || !isPlain(suffix, open, close)) return
      tail = suffix.slice(close)
      suffix = suffix.slice(0, open)
    }
    const marked = padded ? prefix + MARKER_JSON + suffix + MARKER_INNER + tail : prefix + MARKER_JSON + suffix
    let proof: unknown
    try {
      proof = JSON.parse(marked)
    } catch {
      return
    }
    if (valueOf(proof) !== MARKER || (padded && paddingOf?.(proof) !== MARKER)) return
    this.#prefix = prefix
    this.#suffix = suffix
    this.#tail = tail
    this.#padded = padded
  }
}

/** Whether a part of a JSON text could stand in a string as it is: no quote, no escape, no control character. */
export function isPlain(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code === 0x22 || code === 0x5c) return false
  }
  return true
}

/** Where the object that begins at `from` ends, in a text that is known to be JSON; -1 when no object begins there. */
function endOfObject(text: string, from: number): number {
  if (text.charCodeAt(from) !== 0x7b) return -1
  let depth = 0
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) {
      i++
      while (i < text.length && text.charCodeAt(i) !== 0x22) i += text.charCodeAt(i) === 0x5c ? 2 : 1
    } else if (code === 0x7b || code === 0x5b) depth++
    else if ((code === 0x7d || code === 0x5d) && --depth === 0) return i + 1
  }
  return -1
}
