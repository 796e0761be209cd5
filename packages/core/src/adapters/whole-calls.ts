import type { ToolCallDelta } from '../chunk/chunk.ts'
import type { AdapterOutput } from './adapter.ts'
import type { CallIds } from './call-id.ts'
import type { ChoiceBlocks } from './choice-blocks.ts'
import { endsInHalf } from './half-character.ts'
import { tooManyCalls } from './limit-fault.ts'

/** One call as the wire gives it: whole, or at least its identity. */
export interface WireCall {
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly providerExecuted?: boolean
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly invalidUtf8?: boolean
  /** Why what opened it can't be trusted. */
  readonly unsafe?: string | undefined
}

/** A call that was given out, and what may still be said of it. */
export class WrittenCall {
  readonly name: string | undefined
  readonly providerCallId: string | undefined
  readonly providerExecuted: boolean
  readonly #choice: number
  readonly #block: number
  readonly #callId: string
  #ended = false
  #conflicted = false
  #held = ''

  constructor(call: WireCall, choice: number, block: number, callId: string) {
    this.name = call.name
    this.providerCallId = call.id
    this.providerExecuted = call.providerExecuted === true
    this.#choice = choice
    this.#block = block
    this.#callId = callId
  }

  write(fields: Partial<ToolCallDelta>, out: AdapterOutput): void {
    const { choice, index, ...rest } = { ...this.#place(), type: 'tool-call-delta' as const, id: this.#callId }
    out.chunks.push({ ...rest, ...(choice !== undefined && { choice }), index, argumentsDelta: '', ...fields })
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Appends a piece of arguments. Half a surrogate pair waits for its other half (fault F203). */
  append(text: string, invalidUtf8: boolean, out: AdapterOutput): void {
    let whole = this.#held + text
    this.#held = ''
    if (endsInHalf(whole)) {
      this.#held = whole.slice(-1)
      whole = whole.slice(0, -1)
    }
    if (invalidUtf8) this.write({ argumentsDelta: whole, invalidUtf8: true }, out)
    else if (whole !== '') this.write({ argumentsDelta: whole }, out)
  }

  /** Gives out a half character that never got its other half. */
  flush(out: AdapterOutput): void {
    if (this.#held !== '') this.write({ argumentsDelta: this.#held }, out)
    this.#held = ''
  }

  /** The call contradicts itself. Said once: many such fragments must not be answered with as many conflicts. */
  conflict(message: string, out: AdapterOutput): void {
    if (this.#conflicted) return
    this.#conflicted = true
    this.write({ conflict: { message } }, out)
  }

  /** The wire closed it. Said once. */
  end(out: AdapterOutput): void {
    if (this.#ended) return
    this.flush(out)
    this.#ended = true
    out.chunks.push({ type: 'block-end', ...this.#place() })
  }

  #place(): { choice?: number; index: number } {
    return this.#choice === 0 ? { index: this.#block } : { choice: this.#choice, index: this.#block }
  }
}

/**
 * The calls of one choice, for formats that send a call in one piece: nothing has to be matched, each is a call of its own, also
 * those that are equal (fault F174).
 */
export class WholeCalls {
  readonly written: WrittenCall[] = []
  readonly #blocks: ChoiceBlocks
  readonly #ids: CallIds
  readonly #maxCalls: number
  readonly #responseId: () => string | undefined

  constructor(blocks: ChoiceBlocks, ids: CallIds, maxCalls: number, responseId: () => string | undefined) {
    this.#blocks = blocks
    this.#ids = ids
    this.#maxCalls = maxCalls
    this.#responseId = responseId
  }

  /** There are calls that the provider does not run itself. */
  get waiting(): boolean {
    return this.written.some(({ providerExecuted }) => !providerExecuted)
  }

  /** The choice has a finish reason. */
  get finished(): boolean {
    return this.#blocks.finish !== undefined
  }

  /** Opens a call. Undefined when there are too many; the fault is then given out. */
  open(call: WireCall, out: AdapterOutput): WrittenCall | undefined {
    const ordinal = this.written.length
    const choice = this.#blocks.index
    if (ordinal >= this.#maxCalls) {
      out.chunks.push(tooManyCalls(choice, this.#maxCalls))
      return undefined
    }
    const { id, name, metadata } = call
    const callId = this.#ids.assign(id, this.#responseId(), choice, ordinal)
    if (id === undefined) out.note('missing_id')
    else if (id !== callId) out.note('id_repeated')
    const written = new WrittenCall(call, choice, this.#blocks.begin(out), callId)
    this.written.push(written)
    written.write(
      {
        ...(name !== undefined && { name }),
        ...(id !== undefined && { providerCallId: id }),
        ...(call.providerExecuted && { providerExecuted: true }),
        ...(call.invalidUtf8 && { invalidUtf8: true }),
        ...(call.unsafe !== undefined && { unsafeArguments: call.unsafe }),
        ...(metadata !== undefined && { metadata }),
      },
      out,
    )
    return written
  }

  /** The choice has a finish reason under which calls may be closed. */
  endAll(out: AdapterOutput): void {
    for (const call of this.written) call.end(out)
  }
}
