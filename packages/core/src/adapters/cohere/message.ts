import type { AdapterContext, AdapterOutput } from '../adapter.ts'
import { CallIds } from '../call-id.ts'
import { ChoiceBlocks } from '../choice-blocks.ts'
import { isKeepable } from '../kept-value.ts'
import { KeyedCalls } from '../keyed-calls.ts'
import { WholeCalls } from '../whole-calls.ts'
import { startedAgain } from '../splice.ts'
import { startChunk } from '../start-chunk.ts'
import { isNothing, isRecord } from '../wire-value.ts'
import { finishReasonOf } from './finish-reason.ts'
import { usageOf } from './usage.ts'
import { readFinishWord } from '../finish-word.ts'
import type { FinishAliases } from '../finish-word.ts'

/** The one message that a response is, in either version of the API. */
export class CohereMessage {
  readonly blocks: ChoiceBlocks = new ChoiceBlocks(0)
  readonly calls: KeyedCalls
  readonly wholeCalls: WholeCalls
  started = false
  id: string | undefined
  readonly #aliases: FinishAliases

  constructor(aliases: FinishAliases, { idSeed, limits }: AdapterContext) {
    this.#aliases = aliases
    this.wholeCalls = new WholeCalls(this.blocks, new CallIds(idSeed), limits.callsPerChoice, () => this.id)
    this.calls = new KeyedCalls(this.wholeCalls)
  }

  start(id: string | undefined, out: AdapterOutput): void {
    this.id ??= id
    if (this.started) return
    this.started = true
    out.chunks.push(startChunk(id))
  }

  /** The event that starts a message. Behind content it is the start of another one. */
  begin(id: string | undefined, event: string, out: AdapterOutput): void {
    if (this.blocks.hasContent) out.chunks.push({ type: 'error', error: startedAgain(event) })
    else this.start(id, out)
  }

  finish(raw: unknown, out: AdapterOutput): void {
    const word = readFinishWord(raw, (text) => finishReasonOf(text, this.#aliases), out)
    if (word === undefined) return
    this.blocks.close(word.raw, word.reason, out)
  }

  usage(raw: unknown, out: AdapterOutput): void {
    if (isRecord(raw)) out.chunks.push({ type: 'usage', usage: usageOf(raw) })
  }

  /** Keeps a list of the provider's own, a citation for example. */
  keep(key: string, values: unknown, out: AdapterOutput): void {
    const list = Array.isArray(values) ? values : isNothing(values) ? [] : [values]
    if (list.length > 0 && isKeepable(list)) out.chunks.push({ type: 'metadata', choice: 0, append: { [key]: list } })
  }

  end(out: AdapterOutput): void {
    this.calls.flush(out)
    this.blocks.end(out, this.wholeCalls.waiting)
  }
}
