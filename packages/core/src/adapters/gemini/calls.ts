import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterOutput } from '../adapter.ts'
import { argumentText, isUnsafe, UNSAFE } from '../argument-value.ts'
import type { ArgumentValue } from '../argument-value.ts'
import type { CallIds } from '../call-id.ts'
import type { ChoiceBlocks } from '../choice-blocks.ts'
import { argumentsOfCall, statedTwice } from '../stated-twice.ts'
import { WholeCalls } from '../whole-calls.ts'
import type { WireCall, WrittenCall } from '../whole-calls.ts'
import { identity, isNothing, isRecord } from '../wire-value.ts'
import { PartialArguments } from './partial-arguments.ts'

export interface CallContext {
  readonly ids: CallIds
  readonly maxCalls: number
  readonly maxArgumentBytes: number
  /** The response's own id, as far as it is known. */
  readonly responseId: () => string | undefined
}

type Metadata = Readonly<Record<string, unknown>> | undefined

/** A call that was said to continue. */
interface OpenCall {
  readonly call: WrittenCall
  readonly pieces: PartialArguments
  /** Arguments that were stated as a whole. */
  stated: ArgumentValue | undefined
  unsafe: string | undefined
  /** A piece could not be read: the event is a hole, and this call fell into it. */
  lost: boolean
}

/**
 * The function calls of one candidate. By default a part is a whole call. With streamed arguments a part opens a call that will
 * continue, parts without a name continue it, and a part that will not continue closes it; where that part is missing, the next
 * call or a good finish reason closes the call.
 *
 * @see https://ai.google.dev/api/caching#FunctionCall
 */
export class CandidateCalls {
  readonly #blocks: ChoiceBlocks
  readonly #calls: WholeCalls
  readonly #maxArgumentBytes: number
  #open: OpenCall | undefined

  constructor(blocks: ChoiceBlocks, context: CallContext) {
    this.#blocks = blocks
    this.#calls = new WholeCalls(blocks, context.ids, context.maxCalls, context.responseId)
    this.#maxArgumentBytes = context.maxArgumentBytes
  }

  /** A call was said to continue. */
  get isOpen(): boolean {
    return this.#open !== undefined
  }

  get waiting(): boolean {
    return this.#calls.waiting
  }

  /** Returns false when a limit was hit. */
  read(
    raw: Record<string, unknown>,
    pointer: string,
    metadata: Metadata,
    event: ServerSentEvent,
    out: AdapterOutput,
  ): boolean {
    if (!isNothing(raw['name']) && typeof raw['name'] !== 'string') {
      out.skipped.push({ message: 'the name of a functionCall is not a string' })
      return true
    }
    const id = identity(raw['id'])
    const name = identity(raw['name'])
    const open = this.#open
    if (open !== undefined) {
      const same = id !== undefined && id === open.call.providerCallId
      if (same ? name === undefined || name === open.call.name : name === undefined && id === undefined)
        return this.#continue(open, raw, pointer, metadata, event, out)
      // Another call to the same function, or the same call with its name repeated? Nothing tells.
      if (!isNothing(raw['partialArgs']) && (name === undefined || name === open.call.name))
        open.call.conflict('pieces of arguments came that fit it and a new call alike', out)
      this.closeOpen(out)
    }
    if (!isNothing(raw['willContinue']) && typeof raw['willContinue'] !== 'boolean') {
      out.skipped.push({ message: 'willContinue of a functionCall is neither true nor false' })
      return true
    }
    const more = raw['willContinue'] === true
    if (name === undefined && id === undefined && !more && isNothing(raw['args']) && isNothing(raw['partialArgs'])) {
      out.skipped.push({ message: 'a functionCall says nothing, and no call is open that it could close' })
      return true
    }
    const call: WireCall = { id, name, metadata, invalidUtf8: event.invalidUtf8 === true }
    if (!more && isNothing(raw['partialArgs'])) {
      // The whole call: its name may be there twice, too.
      const value = argumentsOfCall(raw['args'], { event, pointer })
      if (value !== undefined) return this.write(call, value, out)
      out.skipped.push({ message: 'the arguments of a functionCall are nested too deeply to be written down' })
      return true
    }
    const written = this.#calls.open({ ...call, unsafe: statedTwice(event, [pointer]) }, out)
    if (written === undefined) return false
    const opened = { call: written, pieces: new PartialArguments(), stated: undefined, unsafe: undefined, lost: false }
    this.#open = opened
    return this.#continue(opened, raw, pointer, undefined, event, out)
  }

  /** Writes a whole call. Returns false when there are too many. */
  write(call: WireCall, { text, unsafe }: ArgumentValue, out: AdapterOutput): boolean {
    const written = this.#calls.open(call, out)
    if (written === undefined) return false
    written.write({ argumentsDelta: text, ...(unsafe !== undefined && { unsafeArguments: unsafe }) }, out)
    this.#end(written, out)
    return true
  }

  /** Something came that can only come behind the open call. */
  closeOpen(out: AdapterOutput): void {
    const open = this.#open
    if (open === undefined) return
    out.note('call_close_inferred')
    if (open.pieces.isEmpty && open.stated === undefined)
      open.unsafe ??= 'the call was said to continue, and neither arguments nor its end came'
    this.#close(open, out)
  }

  /** Calls that came behind a finish reason, and the next one. */
  endAll(out: AdapterOutput): void {
    this.#calls.endAll(out)
  }

  /** The wire has ended: what there is of an open call is shown, and is not whole. */
  flush(out: AdapterOutput): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    const text = open.stated?.text ?? open.pieces.toText()
    open.call.write({ argumentsDelta: text.endsWith('}') ? text.slice(0, -1) : text }, out)
  }

  #continue(
    open: OpenCall,
    raw: Record<string, unknown>,
    pointer: string,
    metadata: Metadata,
    event: ServerSentEvent,
    out: AdapterOutput,
  ): boolean {
    // Also without any text this is progress.
    open.call.write(
      {
        ...(metadata !== undefined && { metadata }),
        ...(event.invalidUtf8 === true && { invalidUtf8: true }),
      },
      out,
    )
    const { args, partialArgs } = raw
    if (!isNothing(partialArgs)) {
      if (isUnsafe({ event, pointer })) open.unsafe ??= UNSAFE
      const fault = open.pieces.apply(partialArgs)
      if (fault?.kind === 'unreadable') {
        open.lost = true
        out.skipped.push({ message: fault.message })
      } else if (fault !== undefined) open.call.conflict(fault.message, out)
      if (open.pieces.bytes > this.#maxArgumentBytes) return this.#tooLong(out)
    }
    // An empty object is how some serialisers write no arguments yet.
    if (!isNothing(args) && !(isRecord(args) && Object.keys(args).length === 0)) {
      const stated = argumentText(args, { event, pointer })
      if (stated === undefined) out.skipped.push({ message: 'the arguments of a functionCall are nested too deeply' })
      else if (open.stated !== undefined && stated.text !== open.stated.text)
        open.call.conflict('its arguments are stated whole more than once, and differ', out)
      open.stated ??= stated
    }
    if (raw['willContinue'] !== true) this.#close(open, out)
    return true
  }

  #close(open: OpenCall, out: AdapterOutput): void {
    this.#open = undefined
    // Only now: pieces may come before and behind, and their text is as long as all of them.
    if (open.stated !== undefined && !open.pieces.isEmpty && open.stated.text !== open.pieces.toText())
      open.call.conflict('its arguments are stated whole, and are not what its pieces said', out)
    const unsafe = open.unsafe ?? open.stated?.unsafe
    open.call.write(
      {
        argumentsDelta: open.stated?.text ?? open.pieces.toText(),
        ...(unsafe !== undefined && { unsafeArguments: unsafe }),
      },
      out,
    )
    if (!open.lost) this.#end(open.call, out)
  }

  /** A call behind a finish reason is closed by the next finish reason only. */
  #end(call: WrittenCall, out: AdapterOutput): void {
    if (this.#blocks.finish === undefined) call.end(out)
  }

  #tooLong(out: AdapterOutput): boolean {
    out.chunks.push({
      type: 'error',
      error: {
        code: 'argument_limit_exceeded',
        phase: 'call',
        retryable: 'no',
        choice: this.#blocks.index,
        message: `the arguments of a call are longer than ${this.#maxArgumentBytes} bytes; raise limits.argumentBytes if that is expected`,
      },
    })
    return false
  }
}
