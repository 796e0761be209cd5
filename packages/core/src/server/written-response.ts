import type { StreamChunk } from '../chunk/chunk.ts'
import type { TokenUsage } from '../chunk/usage.ts'

export interface NamedResponse {
  readonly id?: string | undefined
  readonly model?: string | undefined
  /** Seconds since 1970. */
  readonly created: number
}

/** What every event of a response says of it as a whole. What the caller has named stands; else it is what came first. */
export class WrittenResponse {
  readonly created: number
  /** The latest counters. */
  usage: TokenUsage | undefined
  #id: string | undefined
  #model: string | undefined

  constructor({ id, model, created }: NamedResponse) {
    this.#id = id
    this.#model = model
    this.created = created
  }

  start({ id, model }: Extract<StreamChunk, { readonly type: 'start' }>): void {
    this.#id ??= id
    this.#model ??= model
  }

  /** Made up with this prefix where none came before the first event, and the same from then on. */
  id(prefix: string): string {
    return (this.#id ??= prefix + crypto.randomUUID().replaceAll('-', ''))
  }

  get model(): string {
    return this.#model ?? 'unknown'
  }
}
