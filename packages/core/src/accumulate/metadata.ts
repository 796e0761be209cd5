import type { StreamChunk } from '../chunk/chunk.ts'
import type { ProviderMetadata } from './snapshot.ts'

/** Provider fields while they grow. Null-prototype throughout: keys come from the wire. */
export class GrowingMetadata {
  #replaced: Record<string, unknown> | undefined
  #lists: Record<string, unknown[]> | undefined
  #view: ProviderMetadata | undefined

  take(chunk: Extract<StreamChunk, { type: 'metadata' }>): void {
    this.#view = undefined
    if (chunk.replace !== undefined) {
      this.#replaced ??= Object.create(null) as Record<string, unknown>
      for (const key of Object.keys(chunk.replace)) this.#replaced[key] = chunk.replace[key]
    }
    if (chunk.append !== undefined) {
      this.#lists ??= Object.create(null) as Record<string, unknown[]>
      for (const key of Object.keys(chunk.append)) {
        const list = (this.#lists[key] ??= [])
        for (const value of chunk.append[key]!) list.push(value)
      }
    }
  }

  view(): ProviderMetadata | undefined {
    if (this.#replaced === undefined && this.#lists === undefined) return undefined
    if (this.#view === undefined) {
      const view = Object.create(null) as Record<string, unknown>
      for (const key of Object.keys(this.#replaced ?? {})) view[key] = this.#replaced![key]
      for (const key of Object.keys(this.#lists ?? {})) {
        // Lists only grow, so the length seen now is enough to cut this view's own copy when somebody looks at it: a snapshot
        // after each of n deltas must not copy n lists.
        const list = this.#lists![key]!
        const { length } = list
        let copy: readonly unknown[] | undefined
        Object.defineProperty(view, key, { enumerable: true, get: () => (copy ??= list.slice(0, length)) })
      }
      this.#view = view
    }
    return this.#view
  }
}
