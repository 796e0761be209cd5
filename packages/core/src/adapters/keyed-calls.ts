import type { ServerSentEvent } from '../sse/event.ts'
import { clip } from '../json/clip.ts'
import type { AdapterOutput } from './adapter.ts'
import type { BlockKey } from './choice-blocks.ts'
import type { WholeCalls, WireCall, WrittenCall } from './whole-calls.ts'

/**
 * The calls of one choice for formats that open a call, send its arguments and close it, each under a key of its own. What is
 * said of a key that no call was opened under, or that was closed, is never given to another call.
 */
export class KeyedCalls {
  readonly #calls: WholeCalls
  readonly #byKey = new Map<BlockKey, WrittenCall>()
  /** Opened behind a finish reason, which did not speak of them: their own end does not close them. */
  readonly #late = new Set<WrittenCall>()

  constructor(calls: WholeCalls) {
    this.#calls = calls
  }

  /** Returns false when there are too many calls. */
  start(key: BlockKey | undefined, call: WireCall, out: AdapterOutput): boolean {
    const known = key === undefined ? undefined : this.#byKey.get(key)
    if (known !== undefined && !known.ended) {
      const sameOwner = known.providerExecuted === (call.providerExecuted === true)
      if (known.name === call.name && known.providerCallId === call.id && sameOwner) {
        if (call.unsafe !== undefined) known.write({ unsafeArguments: call.unsafe }, out)
        return true
      }
      known.conflict(`key ${quote(key)} was given to another call before this one was closed`, out)
    } else if (known !== undefined) out.note('index_reused')
    const written = this.#calls.open(call, out)
    if (written === undefined) return false
    if (known !== undefined && !known.ended) written.conflict(`key ${quote(key)} is that of an open call`, out)
    if (this.#calls.finished) this.#late.add(written)
    this.#byKey.set(key ?? `unkeyed ${this.#calls.written.length}`, written)
    if (key === undefined) out.note('missing_index')
    return true
  }

  append(key: BlockKey | undefined, text: string, event: ServerSentEvent, out: AdapterOutput): void {
    const call = this.#find(key, 'arguments', out)
    if (call === undefined) return
    if (!call.ended) call.append(text, event.invalidUtf8 === true, out)
    else if (text.trim() !== '') call.conflict('arguments came after the call was closed', out)
  }

  /** The wire closed the call under this key. False when there is none. */
  end(key: BlockKey | undefined, out: AdapterOutput): boolean {
    if (key !== undefined && !this.#byKey.has(key)) return false
    const call = this.#find(key, 'the end', out)
    if (call === undefined || !this.#late.has(call)) call?.end(out)
    else call.flush(out)
    return true
  }

  /** Gives out what was held back. */
  flush(out: AdapterOutput): void {
    for (const call of this.#calls.written) call.flush(out)
  }

  #find(key: BlockKey | undefined, what: string, out: AdapterOutput): WrittenCall | undefined {
    if (key !== undefined) {
      const call = this.#byKey.get(key)
      if (call === undefined)
        out.skipped.push({ message: `${what} of a call came that was never opened: ${quote(key)}` })
      return call
    }
    const open = this.#calls.written.filter(({ ended }) => !ended)
    if (open.length === 1) return open[0]
    out.skipped.push({ message: `${what} of a call came without its key while ${open.length} calls are open` })
    for (const call of open) call.conflict(`${what} without a key came while ${open.length} calls were open`, out)
    return undefined
  }
}

function quote(key: BlockKey | undefined): string {
  return `"${clip(String(key), 40)}"`
}
