/**
 * The value of a JSON document that is still arriving, as an immutable tree for previews. `partial.ts` builds it.
 *
 * What makes a value after every delta cheap is that a document only ever grows at its end. The finished items of an array
 * (or members of an object) live in one list that is only added to; a view of the array is that list, how many of its
 * items had been finished at that moment, and the one item that was still open. So a new view costs the same whatever its
 * width, an earlier view never sees what was added after it, and both give the very same objects for what was finished.
 */

import { GrowingList } from './growing-list.ts'

/**
 * A value, perhaps with more to come. `kind` tells which; `open` is true for a string, an array or an object whose end has
 * not been seen. Numbers, booleans and null have no open form: they are not there before they are delimited.
 *
 * This is for showing, never for acting: by design it is no `JsonValue` and does not fit where arguments of a call are
 * expected. Two views of one document share all nodes that did not change between them, so compare nodes by identity.
 */
export type PartialJson = PartialString | PartialNumber | PartialBoolean | PartialNull | PartialArray | PartialObject

export class PartialString {
  // Exists for the compiler alone, here and below: objects that merely look alike do not fit. (`#` fields do the same.)
  declare protected readonly isPartial: true
  readonly kind = 'string'
  readonly open: boolean
  /**
   * Decoded. While open it never ends inside an escape sequence or a surrogate pair, and what comes later only adds to it.
   * It grows as a rope: taking it is free, but looking at its characters copies all of them once per value.
   */
  readonly text: string
  readonly #lastPiece: TextPiece | undefined

  /** `lastPiece`, if given, and those before it make up `text`. */
  constructor(text: string, open: boolean, lastPiece?: TextPiece) {
    this.text = text
    this.open = open
    this.#lastPiece = lastPiece
  }

  /** The same as `text.slice(start)`, but while open it costs only what came since: a view that appends uses this. */
  textFrom(start: number): string {
    if (this.#lastPiece === undefined) return this.text.slice(start)
    let tail = ''
    let tailStart = this.text.length
    for (let piece: TextPiece | undefined = this.#lastPiece; piece !== undefined; piece = piece.before) {
      if (tailStart <= start) break
      tail = piece.text + tail
      tailStart -= piece.text.length
    }
    return tail.slice(start - tailStart)
  }
}

/** What one push added to a string that is open, linked to what came before: a list that views of all moments can share. */
export interface TextPiece {
  readonly text: string
  readonly before: TextPiece | undefined
}

export class PartialNumber {
  declare protected readonly isPartial: true
  readonly kind = 'number'
  readonly open = false
  readonly value: number
  /** As written: what to show to whoever must approve a call, since `value` may be rounded. */
  readonly text: string

  constructor(text: string) {
    this.value = Number(text)
    this.text = text
  }
}

export class PartialBoolean {
  declare protected readonly isPartial: true
  readonly kind = 'boolean'
  readonly open = false
  readonly value: boolean

  constructor(value: boolean) {
    this.value = value
  }
}

export class PartialNull {
  declare protected readonly isPartial: true
  readonly kind = 'null'
  readonly open = false
  readonly value = null
}

/** Only the last item can be open. */
export class PartialArray {
  readonly kind = 'array'
  readonly open: boolean
  /** Items there are to show; one that is not delimited yet is not among them. */
  readonly length: number
  readonly #items: GrowingList<PartialJson>
  readonly #finished: number
  readonly #openItem: PartialJson | undefined

  constructor(items: GrowingList<PartialJson>, openItem: PartialJson | undefined, open: boolean) {
    this.open = open
    this.#items = items
    this.#finished = items.length
    this.#openItem = openItem
    this.length = openItem === undefined ? items.length : items.length + 1
  }

  /** As `Array.prototype.at`: from the end when negative, `undefined` when there is none. */
  at(index: number): PartialJson | undefined {
    const place = index < 0 ? this.length + index : index
    if (place === this.#finished) return this.#openItem
    return place < this.#finished ? this.#items.at(place) : undefined
  }

  *[Symbol.iterator](): IterableIterator<PartialJson> {
    for (let at = 0; at < this.#finished; at++) yield this.#items.at(at) as PartialJson
    if (this.#openItem !== undefined) yield this.#openItem
  }
}

/**
 * Members in the order of the text. A key that came twice is there twice, and `get` gives the later one, as `JSON.parse`
 * does. Only the last member can be open; a member appears with its value, not with its key.
 */
export class PartialObject {
  readonly kind = 'object'
  readonly open: boolean
  /** Members there are to show. */
  readonly size: number
  /** Key of the member whose value is still open. */
  readonly openKey: string | undefined
  readonly #members: Members
  readonly #finished: number
  readonly #openValue: PartialJson | undefined

  constructor(members: Members, openKey: string, openValue: PartialJson | undefined, open: boolean) {
    this.open = open
    this.#members = members
    this.#finished = members.entries.length
    this.#openValue = openValue
    this.openKey = openValue === undefined ? undefined : openKey
    this.size = openValue === undefined ? this.#finished : this.#finished + 1
  }

  /** The first call on any view of an object costs its width, further ones look the key up. */
  get(key: string): PartialJson | undefined {
    if (key === this.openKey) return this.#openValue
    return this.#members.find(key, this.#finished)
  }

  *entries(): IterableIterator<PartialEntry> {
    const { entries } = this.#members
    for (let at = 0; at < this.#finished; at++) yield entries.at(at) as PartialEntry
    if (this.#openValue !== undefined) yield [this.openKey as string, this.#openValue]
  }
}

export type PartialEntry = readonly [key: string, value: PartialJson]

/** The finished members of one object, shared by all views of it. */
export class Members {
  readonly entries: GrowingList<PartialEntry> = new GrowingList()
  // Made on the first look-up and then kept in step by the next ones, so an object that is only walked needs no index.
  #places: Map<string, number> | undefined
  /** For a place whose key came before: where. An earlier view looks past what it must not see yet. */
  #earlier: Map<number, number> | undefined
  #indexed = 0

  /** The last value of the key among the first `count` members. */
  find(key: string, count: number): PartialJson | undefined {
    let place = this.#index().get(key)
    while (place !== undefined && place >= count) place = this.#earlier?.get(place)
    return place === undefined ? undefined : this.entries.at(place)?.[1]
  }

  #index(): ReadonlyMap<string, number> {
    const places = (this.#places ??= new Map<string, number>())
    for (; this.#indexed < this.entries.length; this.#indexed++) {
      const [key] = this.entries.at(this.#indexed) as PartialEntry
      const earlier = places.get(key)
      if (earlier !== undefined) {
        this.#earlier ??= new Map()
        this.#earlier.set(this.#indexed, earlier)
      }
      places.set(key, this.#indexed)
    }
    return places
  }
}

type Copy =
  | { readonly array: unknown[]; readonly items: Iterator<PartialJson> }
  | { readonly object: Record<string, unknown>; readonly members: Iterator<PartialEntry> }

/**
 * A plain copy of what is there so far: what `JSON.parse` would give for it, `undefined` for `undefined`. It has lost the
 * marks of what is still open, which is why its type is `unknown` and not a JSON type: show it, don't act on it.
 *
 * Costs the size of the value, so after every delta of a long document it is quadratic; walk the nodes there instead.
 * A key `__proto__` becomes an own property like any other.
 */
export function toPlain(partial: PartialJson | undefined): unknown {
  if (partial === undefined) return undefined
  // A list of copies in the making instead of recursion: depth then costs no stack.
  const copies: Copy[] = []
  const plain = beginCopy(partial, copies)
  for (;;) {
    const copy = copies[copies.length - 1]
    if (copy === undefined) return plain
    if ('array' in copy) {
      const next = copy.items.next()
      if (next.done === true) copies.pop()
      else copy.array.push(beginCopy(next.value, copies))
    } else {
      const next = copy.members.next()
      if (next.done === true) copies.pop()
      else setOwn(copy.object, next.value[0], beginCopy(next.value[1], copies))
    }
  }
}

function beginCopy(node: PartialJson, copies: Copy[]): unknown {
  switch (node.kind) {
    case 'string':
      return node.text
    case 'number':
    case 'boolean':
    case 'null':
      return node.value
    case 'array': {
      const array: unknown[] = []
      copies.push({ array, items: node[Symbol.iterator]() })
      return array
    }
    case 'object': {
      const object: Record<string, unknown> = {}
      copies.push({ object, members: node.entries() })
      return object
    }
  }
}

/** By assignment, `__proto__` would set the prototype instead of a property. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    object[key] = value
  }
}

/**
 * JSON Pointer of the open leaf: the innermost string, array or object that is still growing (`''` when that is the whole
 * value). `undefined` when nothing is open.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6901
 */
export function openPath(partial: PartialJson | undefined): string | undefined {
  if (partial?.open !== true) return undefined
  let path = ''
  let node: PartialJson = partial
  for (;;) {
    let child: PartialJson | undefined
    let step: string | number = ''
    if (node.kind === 'array') {
      child = node.at(-1)
      step = node.length - 1
    } else if (node.kind === 'object' && node.openKey !== undefined) {
      child = node.get(node.openKey)
      step = node.openKey.replaceAll('~', '~0').replaceAll('/', '~1')
    }
    if (child?.open !== true) return path
    path += `/${step}`
    node = child
  }
}
