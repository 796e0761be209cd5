import { clip } from '../../json/clip.ts'
import { utf8Length } from '../../json/utf8-length.ts'
import { isRecord } from '../wire-value.ts'
import { readJsonPath } from './json-path.ts'
import type { PathStep } from './json-path.ts'

/** Why pieces of arguments could not be put together. */
export interface PieceFault {
  /** `unreadable`: not a piece at all, something is lost. `contradiction`: it can't be put where it says it belongs. */
  readonly kind: 'unreadable' | 'contradiction'
  readonly message: string
}

/** A container under construction. Null-prototype objects: a key `__proto__` is a key like any other. */
type Container = Record<string, unknown> | unknown[]

const VALUE_KEYS = ['stringValue', 'numberValue', 'boolValue', 'nullValue'] as const

/**
 * Puts arguments together that come as values with paths (`partialArgs`). A text that will continue is appended to until a piece
 * of its path says that it is the last, often an empty one; a place that has its value is never written again.
 */
export class PartialArguments {
  /** UTF-8 bytes of the texts and keys so far, about what the arguments will be long. */
  bytes = 0
  readonly #root: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  /** Paths of texts that were said to continue. */
  readonly #continuing = new Set<string>()

  get isEmpty(): boolean {
    return Object.keys(this.#root).length === 0
  }

  apply(pieces: unknown): PieceFault | undefined {
    if (!Array.isArray(pieces)) return unreadable('partialArgs is not a list')
    for (const piece of pieces as readonly unknown[]) {
      const fault = this.#piece(piece)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  /** The arguments as JSON text; not whole where a text was still to be continued. */
  toText(): string {
    const text = JSON.stringify(this.#root)
    return this.#continuing.size === 0 ? text : text.slice(0, -1)
  }

  #piece(piece: unknown): PieceFault | undefined {
    if (!isRecord(piece) || typeof piece['jsonPath'] !== 'string') return unreadable('a piece has no jsonPath')
    const path = piece['jsonPath']
    const steps = readJsonPath(path)
    if (steps === undefined || steps.length === 0)
      return unreadable(`the path ${quote(path)} does not name one place in an object`)
    const key = VALUE_KEYS.find((name) => piece[name] !== undefined && (name === 'nullValue' || piece[name] !== null))
    if (key === undefined) return unreadable(`the piece for ${quote(path)} has no value that is known`)
    const value = key === 'nullValue' ? null : piece[key]
    if (typeof value !== TYPES[key]) return unreadable(`the piece for ${quote(path)} has a value of the wrong type`)
    const more = piece['willContinue'] === true
    this.bytes += typeof value === 'string' ? utf8Length(value) : 8
    const place = this.#placeOf(steps)
    if (place === undefined) return contradiction(`the path ${quote(path)} leads through a value that is no container`)
    const { parent, last } = place
    const name = JSON.stringify(steps)
    if (this.#continuing.has(name)) {
      if (typeof value !== 'string') return contradiction(`the text at ${quote(path)} is continued by another value`)
      set(parent, last, (get(parent, last) as string) + value)
    } else if (has(parent, last)) {
      return contradiction(`the place ${quote(path)} has a value already`)
    } else {
      this.bytes += typeof last === 'string' ? utf8Length(last) : 1
      set(parent, last, value)
    }
    if (more && typeof value === 'string') this.#continuing.add(name)
    else this.#continuing.delete(name)
    return undefined
  }

  /** The container that a path ends in, made where it is missing. */
  #placeOf(steps: readonly PathStep[]): { parent: Container; last: PathStep } | undefined {
    let parent: Container = this.#root
    for (let i = 0; ; i++) {
      const step = steps[i]!
      // An array grows by one place at a time: a hole would be filled by nobody.
      const fits = Array.isArray(parent) ? typeof step === 'number' && step <= parent.length : typeof step === 'string'
      if (!fits) return undefined
      if (i === steps.length - 1) return { parent, last: step }
      if (!has(parent, step)) {
        this.bytes += 4
        set(parent, step, typeof steps[i + 1] === 'number' ? [] : Object.create(null))
      }
      const next = get(parent, step)
      if (typeof next !== 'object' || next === null) return undefined
      parent = next as Container
    }
  }
}

const TYPES = { stringValue: 'string', numberValue: 'number', boolValue: 'boolean', nullValue: 'object' } as const

function has(container: Container, step: PathStep): boolean {
  return Object.hasOwn(container, step)
}

function get(container: Container, step: PathStep): unknown {
  return (container as Record<PathStep, unknown>)[step]
}

function set(container: Container, step: PathStep, value: unknown): void {
  ;(container as Record<PathStep, unknown>)[step] = value
}

function unreadable(message: string): PieceFault {
  return { kind: 'unreadable', message: `arguments in pieces: ${message}` }
}

function contradiction(message: string): PieceFault {
  return { kind: 'contradiction', message: `arguments in pieces: ${message}` }
}

function quote(path: string): string {
  return `"${clip(path, 80)}"`
}
