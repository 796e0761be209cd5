import { GrowingList } from './growing-list.ts'
import { mayEndNumber, nextInNumber, NO_NUMBER } from './number-state.ts'
import {
  Members,
  PartialArray,
  PartialBoolean,
  PartialNull,
  PartialNumber,
  PartialObject,
  PartialString,
} from './partial-value.ts'
import type { PartialJson, TextPiece } from './partial-value.ts'
import { DEFAULT_MAX_JSON_DEPTH } from './strict.ts'

export interface PartialJsonOptions {
  /** Greatest number of nested arrays and objects; one more is `invalid`. Default {@link DEFAULT_MAX_JSON_DEPTH}. */
  readonly maxDepth?: number
}

/**
 * - `empty`: nothing but whitespace so far.
 * - `partial`: a document has begun and may still become whole.
 * - `whole`: exactly one document, perhaps with whitespace around it.
 * - `invalid`: not JSON, whatever follows; or nested too deep. What came after the fault is not looked at.
 */
export type PartialJsonState = 'empty' | 'partial' | 'whole' | 'invalid'

export interface PartialJsonReader {
  /** Takes the next piece, of any length. */
  push(text: string): void
  /**
   * What may be shown of the text so far; `undefined` while there is nothing. The same object until there is more to show.
   * Values given earlier never change.
   */
  value(): PartialJson | undefined
  readonly state: PartialJsonState
  /**
   * Where the state is `invalid`: UTF-16 offset, counted from the first push, of the first character that cannot be where
   * it stands. The value is then the one of the text before it, and stays.
   */
  readonly invalidOffset: number | undefined
  /** Forgets everything; the next push begins another document. Values given earlier stay as they are. */
  reset(): void
}

/**
 * Creates a reader that gives the value of a JSON document while it arrives, for previews.
 *
 * Shown is what later text can only add to, never take back: a string as far as it is decoded (an escape sequence or a
 * surrogate pair cut in the middle waits for its rest), a number or literal when a comma, a bracket or whitespace has
 * ended it, a member when its value begins to show. Numbers need the delimiter also at the top, as `0` might follow.
 * The grammar is that of `JSON.parse`, the result doesn't depend on how the text is cut, and nothing here throws.
 *
 * Reading is linear in the text, without recursion. A value costs one node per array and object open at that moment, at
 * most `maxDepth`, however wide or long they are: what is finished is shared, see `partial-value.ts`.
 */
export function createPartialJsonReader(options?: PartialJsonOptions): PartialJsonReader {
  const maxDepth = options?.maxDepth ?? DEFAULT_MAX_JSON_DEPTH
  let document = new PartialDocument(maxDepth)
  return {
    push: (text) => document.push(text),
    value: () => document.value(),
    get state() {
      return document.state
    },
    get invalidOffset() {
      return document.invalidOffset
    },
    reset() {
      document = new PartialDocument(maxDepth)
    },
  }
}

class GrowingArray {
  readonly closingBracket = 0x5d
  readonly #items = new GrowingList<PartialJson>()

  add(item: PartialJson): void {
    this.#items.add(item)
  }

  view(openItem: PartialJson | undefined, open: boolean): PartialArray {
    return new PartialArray(this.#items, openItem, open)
  }
}

class GrowingObject {
  readonly closingBracket = 0x7d
  /** Of the member whose value comes next or is coming. */
  key = ''
  readonly #members = new Members()

  add(value: PartialJson): void {
    this.#members.entries.add([this.key, value])
  }

  view(openValue: PartialJson | undefined, open: boolean): PartialObject {
    return new PartialObject(this.#members, this.key, openValue, open)
  }
}

// What comes next. Inside a token:
const STRING = 0
const ESCAPE = 1
const HEX = 2
const NUMBER = 3
const WORD = 4
// Between tokens:
const START = 5
const VALUE = 6
const FIRST_ITEM = 7
const FIRST_KEY = 8
const KEY = 9
const COLON = 10
const AFTER = 11
const END = 12
// Nothing:
const INVALID = 13

const QUOTE = 0x22
const COMMA = 0x2c
const COLON_CODE = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const LOWER_U = 0x75
const OPEN_BRACE = 0x7b

/** What ends a run of plain characters in a string; global for its `lastIndex` only, see `scan-token.ts`. */
// eslint-disable-next-line no-control-regex -- raw control characters are what a string must not hold
const SPECIAL = /["\\\u0000-\u001f]/g

const TRUE = { word: 'true', node: new PartialBoolean(true) }
const FALSE = { word: 'false', node: new PartialBoolean(false) }
const NULL = { word: 'null', node: new PartialNull() }

// The methods that read give the offset of what they did not take, or `~offset` where the document is not JSON any more.
class PartialDocument {
  readonly #maxDepth: number
  /** Arrays and objects that are open, the innermost last. */
  readonly #open: (GrowingArray | GrowingObject)[] = []
  #next = START
  /** Length of the pieces before this one. */
  #before = 0

  /** The string that is being read, key or value, so far as it may be shown: up to this push, and what this push adds. */
  #text = ''
  #added = ''
  /** What `#text` is made of, where it is a value. */
  #lastPiece: TextPiece | undefined
  /** A high surrogate at its end, until it is known whether its other half follows. */
  #high = ''
  #isKey = false
  /** The string is a value: it is the open leaf. */
  #isLeaf = false
  #hexDigits = 0
  #hexValue = 0
  #number = ''
  #numberState = NO_NUMBER
  #literal = TRUE as typeof TRUE | typeof NULL
  #literalLength = 0
  /** A number or literal that has its last character, but not yet what delimits it. */
  #undelimited: PartialJson | undefined

  #whole: PartialJson | undefined
  #shown: PartialJson | undefined
  #isShownStale = false

  invalidOffset: number | undefined

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth
  }

  get state(): PartialJsonState {
    if (this.#next === START) return 'empty'
    if (this.#next === INVALID) return 'invalid'
    return this.#next === END ? 'whole' : 'partial'
  }

  value(): PartialJson | undefined {
    if (this.#whole !== undefined) return this.#whole
    if (this.#isShownStale) {
      let child: PartialJson | undefined = this.#isLeaf
        ? new PartialString(this.#text, true, this.#lastPiece)
        : undefined
      for (let at = this.#open.length - 1; at >= 0; at--) {
        child = (this.#open[at] as GrowingArray | GrowingObject).view(child, true)
      }
      this.#shown = child
      this.#isShownStale = false
    }
    return this.#shown
  }

  push(text: string): void {
    if (this.#next === INVALID) return
    let at = 0
    while (at < text.length) {
      const end = this.#read(text, at)
      if (end < 0) {
        this.#next = INVALID
        this.invalidOffset = this.#before + ~end
        break
      }
      at = end
    }
    this.#before += text.length
    this.#addPiece()
  }

  /** One piece per push, not one per escape sequence, keeps ropes shallow. */
  #addPiece(): void {
    if (this.#added === '') return
    this.#text += this.#added
    if (this.#isLeaf) {
      this.#lastPiece = { text: this.#added, before: this.#lastPiece }
      this.#isShownStale = true
    }
    this.#added = ''
  }

  #read(text: string, at: number): number {
    switch (this.#next) {
      case STRING:
        return this.#readString(text, at)
      case ESCAPE:
        return this.#readEscape(text, at)
      case HEX:
        return this.#readHex(text, at)
      case NUMBER:
        return this.#readNumber(text, at)
      case WORD:
        return this.#readWord(text, at)
      default:
        return this.#readBetween(text, at)
    }
  }

  /** One character between tokens, or the first of a token. */
  #readBetween(text: string, at: number): number {
    const code = text.charCodeAt(at)
    if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      this.#delimit()
      return at + 1
    }
    const container = this.#open[this.#open.length - 1]
    switch (this.#next) {
      case FIRST_KEY:
      case KEY:
        if (code === QUOTE) this.#beginString(true)
        else if (code === container?.closingBracket && this.#next === FIRST_KEY) this.#close(container)
        else return ~at
        return at + 1

      case COLON:
        if (code !== COLON_CODE) return ~at
        this.#next = VALUE
        return at + 1

      case AFTER:
        if (container === undefined) return ~at
        if (code === COMMA) {
          this.#delimit()
          this.#next = container instanceof GrowingObject ? KEY : VALUE
        } else if (code === container.closingBracket) {
          this.#delimit()
          this.#close(container)
        } else {
          return ~at
        }
        return at + 1

      case END:
        return ~at

      default:
        if (this.#next === FIRST_ITEM && container !== undefined && code === container.closingBracket) {
          this.#close(container)
          return at + 1
        }
        return this.#beginValue(text, at, code)
    }
  }

  #beginValue(text: string, at: number, code: number): number {
    switch (code) {
      case QUOTE:
        this.#beginString(false)
        return at + 1
      case OPEN_BRACE:
      case OPEN_BRACKET:
        // Negated, so that a maxDepth of NaN refuses rather than admits everything.
        if (!(this.#open.length < this.#maxDepth)) return ~at
        this.#open.push(code === OPEN_BRACE ? new GrowingObject() : new GrowingArray())
        this.#next = code === OPEN_BRACE ? FIRST_KEY : FIRST_ITEM
        this.#isShownStale = true
        return at + 1
      case 0x74: // t
        return this.#beginWord(text, at, TRUE)
      case 0x66: // f
        return this.#beginWord(text, at, FALSE)
      case 0x6e: // n
        return this.#beginWord(text, at, NULL)
      default:
        if (nextInNumber(NO_NUMBER, code) === NO_NUMBER) return ~at
        this.#next = NUMBER
        this.#number = ''
        this.#numberState = NO_NUMBER
        return this.#readNumber(text, at)
    }
  }

  #close(container: GrowingArray | GrowingObject): void {
    this.#open.pop()
    this.#add(container.view(undefined, false))
  }

  /** A value is finished: it goes where it belongs. */
  #add(value: PartialJson): void {
    const container = this.#open[this.#open.length - 1]
    if (container === undefined) {
      this.#whole = value
      this.#next = END
    } else {
      container.add(value)
      this.#next = AFTER
    }
    this.#isShownStale = true
  }

  #delimit(): void {
    if (this.#undelimited === undefined) return
    this.#add(this.#undelimited)
    this.#undelimited = undefined
  }

  #beginString(isKey: boolean): void {
    this.#next = STRING
    this.#text = ''
    this.#lastPiece = undefined
    this.#isKey = isKey
    if (isKey) return
    this.#isLeaf = true
    this.#isShownStale = true
  }

  #readString(text: string, at: number): number {
    SPECIAL.lastIndex = at
    const end = SPECIAL.test(text) ? SPECIAL.lastIndex - 1 : text.length
    if (end > at) this.#append(text.slice(at, end))
    if (end === text.length) return end
    const code = text.charCodeAt(end)
    if (code === BACKSLASH) this.#next = ESCAPE
    else if (code === QUOTE) this.#endString()
    else return ~end
    return end + 1
  }

  #append(decoded: string): void {
    const last = decoded.charCodeAt(decoded.length - 1)
    if (last >= 0xd800 && last < 0xdc00) {
      this.#added += this.#high + decoded.slice(0, -1)
      this.#high = decoded.slice(-1)
    } else {
      this.#added += this.#high + decoded
      this.#high = ''
    }
  }

  #endString(): void {
    const text = this.#text + this.#added + this.#high
    this.#added = ''
    this.#high = ''
    this.#isLeaf = false
    if (this.#isKey) {
      ;(this.#open[this.#open.length - 1] as GrowingObject).key = text
      this.#next = COLON
    } else {
      this.#add(new PartialString(text, false))
    }
  }

  #readEscape(text: string, at: number): number {
    const code = text.charCodeAt(at)
    if (code === LOWER_U) {
      this.#next = HEX
      this.#hexDigits = 0
      this.#hexValue = 0
      return at + 1
    }
    const decoded = shortEscape(code)
    if (decoded === undefined) return ~at
    this.#append(decoded)
    this.#next = STRING
    return at + 1
  }

  #readHex(text: string, start: number): number {
    for (let at = start; at < text.length; at++) {
      const digit = hexDigit(text.charCodeAt(at))
      if (digit < 0) return ~at
      this.#hexValue = this.#hexValue * 16 + digit
      this.#hexDigits++
      if (this.#hexDigits === 4) {
        this.#append(String.fromCharCode(this.#hexValue))
        this.#next = STRING
        return at + 1
      }
    }
    return text.length
  }

  #readNumber(text: string, start: number): number {
    let at = start
    for (; at < text.length; at++) {
      const state = nextInNumber(this.#numberState, text.charCodeAt(at))
      if (state === NO_NUMBER) break
      this.#numberState = state
    }
    this.#number += text.slice(start, at)
    if (at === text.length) return at
    if (!mayEndNumber(this.#numberState)) return ~at
    // What stands here is judged next: it delimits the number or makes the document invalid.
    this.#undelimited = new PartialNumber(this.#number)
    this.#next = AFTER
    return at
  }

  #beginWord(text: string, at: number, literal: typeof TRUE | typeof NULL): number {
    this.#next = WORD
    this.#literal = literal
    this.#literalLength = 0
    return this.#readWord(text, at)
  }

  #readWord(text: string, start: number): number {
    const { word, node } = this.#literal
    for (let at = start; at < text.length; at++) {
      if (text.charCodeAt(at) !== word.charCodeAt(this.#literalLength)) return ~at
      this.#literalLength++
      if (this.#literalLength === word.length) {
        if (this.#open.length === 0) {
          this.#add(node)
        } else {
          this.#undelimited = node
          this.#next = AFTER
        }
        return at + 1
      }
    }
    return text.length
  }
}

/** The character that a backslash and this one stand for. */
function shortEscape(code: number): string | undefined {
  switch (code) {
    case QUOTE:
      return '"'
    case BACKSLASH:
      return '\\'
    case 0x2f: // slash
      return '/'
    case 0x62: // b
      return '\b'
    case 0x66: // f
      return '\f'
    case 0x6e: // n
      return '\n'
    case 0x72: // r
      return '\r'
    case 0x74: // t
      return '\t'
    default:
      return undefined
  }
}

/** Its value, or -1. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
