import type { ToolCallDelta } from '../../chunk/chunk.ts'
import { clip } from '../../json/clip.ts'
import { readStrict } from '../../json/strict.ts'
import type { JsonValue } from '../../json/value.ts'
import type { AdapterOutput } from '../adapter.ts'
import { endsInHalf } from '../half-character.ts'
import { isKeepable } from '../kept-value.ts'
import { identity } from '../wire-value.ts'
import { callNameOf } from './call-kind.ts'
import type { CallKind, CallOwner } from './call-kind.ts'
import type { BlockNumbers } from './text-item.ts'

type Raw = Readonly<Record<string, unknown>>

export interface CallContext {
  readonly blocks: BlockNumbers
  /** The id under which the call is known here. */
  assignId(providerId: string | undefined, ordinal: number): string
  /** May the caller have declared a tool of this name? */
  declares(name: string): boolean
}

/** The wire states the input four times at the most; more of them are not looked at with patience. */
const MOST_REWRITES = 8

/** What one event says about the input of a call. */
export interface StatedInput {
  readonly text: string
  /** Why the text can't be trusted. */
  readonly unsafe?: string
}

/**
 * An item that is a call. Its input comes in deltas, in an `arguments.done`, in its `output_item.done` or in the final response,
 * whichever of them a server sends (faults F140, F141); each later one is checked against what is there, and a contradiction is a
 * conflict.
 */
export class CallItem {
  readonly kind = 'call'
  readonly type: string
  readonly ordinal: number
  id: string | undefined
  providerCallId: string | undefined
  /** The wire said that the item is whole: only then may the call be run. */
  done = false
  /** The wire ended the item as one that is not whole: only a word of its own can take that back. */
  broken = false
  readonly #kind: CallKind
  readonly #context: CallContext
  /** Its beginning was not seen: nothing of it is given out before the wire restates it. */
  readonly #isTail: boolean
  #owner: CallOwner
  #name: string | undefined
  #text = ''
  /** What is to be said with a tail whose whole is known now; it waits for the item, which has its id and name. */
  #tail: Partial<ToolCallDelta> | undefined
  #tailShown = false
  #held = ''
  #callId: string | undefined
  #block = 0
  #sentName = false
  #sentId: string | undefined
  #conflicted = false
  #rewrites = 0
  /** The wire said what the input is, be it nothing. */
  #isStated = false
  /** The item that ended the call without a word of its input. */
  #unstated: Raw | undefined
  #suspected = false
  #notedHost = false

  constructor(type: string, kind: CallKind, raw: Raw, ordinal: number, context: CallContext, isTail: boolean) {
    this.type = type
    this.ordinal = ordinal
    this.#kind = kind
    this.#context = context
    this.#isTail = isTail
    this.#owner = kind.ownerOf(raw)
    this.id = identity(raw['id'])
  }

  /** The caller must answer it: a tool of the caller's, or a built-in one that the caller runs. */
  get awaitsAnswer(): boolean {
    return this.#owner !== 'provider' && !this.#isUndeclared
  }

  /** Some providers report their own tools as custom ones (xAI's search tools): what nobody declared is nobody's to run. */
  get #isUndeclared(): boolean {
    return this.type === 'custom_tool_call' && this.#name !== undefined && !this.#context.declares(this.#name)
  }

  /** Its tool is the caller's. */
  get isCallers(): boolean {
    return this.#owner === 'caller'
  }

  get callKind(): CallKind {
    return this.#kind
  }

  /** Takes id and name from the item, and shows the call. */
  open(raw: Raw, invalidUtf8: boolean, out: AdapterOutput): void {
    this.identify(raw, out)
    if (!this.#isTail) this.#emit('', out, invalidUtf8 ? { invalidUtf8: true } : {})
  }

  /** Call id and name are set once; a different one later is a contradiction. */
  identify(raw: Raw, out: AdapterOutput): void {
    this.#owner = this.#kind.ownerOf(raw)
    const callId = identity(raw['call_id']) ?? (this.#owner === 'caller' ? undefined : (this.providerCallId ?? this.id))
    if (callId !== undefined && callId !== this.providerCallId) {
      if (this.providerCallId === undefined) this.providerCallId = callId
      else if (this.#owner === 'caller') {
        this.conflict(`the call id changed from ${quote(this.providerCallId)} to ${quote(callId)}`, out)
      }
    }
    this.name(callNameOf(raw, this.type, this.#owner), out)
  }

  name(name: string | undefined, out: AdapterOutput): void {
    if (name === undefined || name === this.#name) return
    if (this.#name !== undefined) {
      // What a hosted tool calls itself is for showing.
      if (this.#owner !== 'caller') return
      this.conflict(`the name changed from ${quote(this.#name)} to ${quote(name)}`, out)
      return
    }
    if (this.#text.trim() !== '' && !this.#isTail) out.note('name_late')
    this.#name = name
  }

  delta(text: string, invalidUtf8: boolean, out: AdapterOutput): void {
    if (this.done) {
      if (text.trim() !== '') this.conflict('input came after the item was done', out)
      return
    }
    this.#text += text
    // The end of an input that began before does not say what it is.
    if (!this.#isTail) this.#isStated = true
    if (!this.#isTail) this.#emit(text, out, invalidUtf8 ? { invalidUtf8: true } : {})
  }

  /** The wire states the whole input. */
  restate(stated: StatedInput, invalidUtf8: boolean, out: AdapterOutput): void {
    this.#isStated = true
    this.#restate(stated, invalidUtf8, out)
    this.#closeStated(out)
  }

  /** The wire states an empty input, or none beside the fragments that came: those stand. */
  restateEmpty(out: AdapterOutput): void {
    if (this.#isTail) return
    this.#isStated = true
    this.#closeStated(out)
  }

  #restate({ text, unsafe }: StatedInput, invalidUtf8: boolean, out: AdapterOutput): void {
    const before = this.#text
    const corrupt = invalidUtf8 && text.includes('\ufffd')
    if (this.#isTail && this.#tail === undefined) {
      if (!text.endsWith(before)) this.conflict('the input does not end as its fragments did', out)
      this.#text = text
      this.#tail = { ...(corrupt && { invalidUtf8: true }), ...(unsafe !== undefined && { unsafeArguments: unsafe }) }
      return
    }
    if (text === before || this.#conflicted) return
    if (corrupt) {
      if (before === '') this.#text = text
      this.#emit(before === '' ? text : '', out, { invalidUtf8: true })
    } else if (text.startsWith(before) && (!this.done || this.#unstated !== undefined) && !this.#isTail) {
      if (before !== '') out.note('deltas_incomplete', 'input of a call')
      this.#text = text
      this.#emit(text.slice(before.length), out, unsafe === undefined ? {} : { unsafeArguments: unsafe })
    } else if (this.#owner === 'provider' || this.#isRewritten(before, text)) {
      out.note('arguments_rewritten')
    } else this.conflict('the wire restated the input, and it is not what came before', out)
  }

  #isRewritten(before: string, text: string): boolean {
    return !this.#kind.freeText && this.#rewrites++ < MOST_REWRITES && isSameValue(before, text)
  }

  /**
   * The item is whole. A call of which no input was ever stated, not even an empty one, waits for what restates it: that its input
   * is empty would be a guess.
   */
  close(raw: Raw, out: AdapterOutput): void {
    this.done = true
    if (this.isCallers && !this.#isStated) this.#unstated = raw
    else this.#close(raw, out)
  }

  #closeStated(out: AdapterOutput): void {
    const raw = this.#unstated
    if (raw === undefined) return
    this.#unstated = undefined
    this.#close(raw, out)
  }

  /** Its fields but the input are kept: it is sent back in the next turn. */
  #close(raw: Raw, out: AdapterOutput): void {
    if (this.#owner === 'host' && !this.#notedHost) {
      this.#notedHost = true
      out.note('built_in_call', this.type)
    }
    const { [this.#kind.field]: input, ...rest } = raw
    const item = this.#owner === 'caller' ? rest : { ...rest, [this.#kind.field]: input }
    this.flush(out)
    this.#emit('', out, isKeepable(item) ? { metadata: { item } } : {})
    out.chunks.push({ type: 'block-end', index: this.#block })
  }

  /** What opened or closed the call can be read in two ways. Said once: the first of them is reason enough to hold it. */
  suspect(unsafeArguments: string | undefined, out: AdapterOutput): void {
    if (unsafeArguments === undefined || this.#suspected) return
    this.#suspected = true
    this.#emit('', out, { unsafeArguments })
  }

  conflict(message: string, out: AdapterOutput): void {
    // Said once: it settles the call.
    if (this.#conflicted) return
    this.#conflicted = true
    this.#emit('', out, { conflict: { message } })
  }

  /** The wire has ended: gives out what was held back. A call whose beginning was never seen is shown as far as it came. */
  flush(out: AdapterOutput): void {
    if (this.#isTail && !this.#tailShown) {
      this.#tailShown = true
      this.#emit(this.#text, out, this.#tail ?? {})
    }
    const rest = this.#held
    this.#held = ''
    if (rest !== '') this.#send(rest, out, {})
    if (this.#unstated === undefined) return
    const { field } = this.#kind
    this.suspect(`the wire closed the call, and never stated its ${field}`, out)
    this.#closeStated(out)
  }

  #emit(text: string, out: AdapterOutput, extra: Partial<ToolCallDelta>): void {
    let whole = text
    if (this.#held !== '' && text !== '') {
      whole = this.#held + text
      this.#held = ''
    }
    if (endsInHalf(whole)) {
      this.#held = whole.slice(-1)
      whole = whole.slice(0, -1)
    }
    this.#send(whole, out, extra)
  }

  #send(text: string, out: AdapterOutput, extra: Partial<ToolCallDelta>): void {
    const first = this.#callId === undefined
    const id = this.#callId ?? this.#announce(out)
    const sendName = !this.#sentName && this.#name !== undefined
    const sendId = this.providerCallId !== this.#sentId
    const plain = !first && !sendName && !sendId
    if (plain && text === '' && isEmpty(extra)) return
    out.chunks.push({
      type: 'tool-call-delta',
      index: this.#block,
      id,
      argumentsDelta: text,
      ...(sendName && { name: this.#name! }),
      ...(sendName && this.#isUndeclared && { undeclared: true }),
      ...(sendId && { providerCallId: this.providerCallId! }),
      ...(first && this.#kind.freeText && { freeText: true }),
      ...(first && this.#owner !== 'caller' && { providerExecuted: true }),
      ...extra,
    })
    if (sendName) this.#sentName = true
    this.#sentId = this.providerCallId
  }

  #announce(out: AdapterOutput): string {
    this.#block = this.#context.blocks.next()
    this.#callId = this.#context.assignId(this.providerCallId, this.ordinal)
    if (this.providerCallId === undefined) out.note('missing_id')
    else if (this.providerCallId !== this.#callId) out.note('id_repeated')
    return this.#callId
  }
}

function isEmpty(extra: Partial<ToolCallDelta>): boolean {
  for (const _ in extra) return false
  return true
}

/** Two JSON texts of one value: a gateway wrote it down anew. Texts that hold what parsing changes in silence are never the same. */
function isSameValue(a: string, b: string): boolean {
  const left = readStrict(a)
  const right = readStrict(b)
  if (!left.ok || !right.ok || left.issueCount > 0 || right.issueCount > 0) return false
  return isEqual(left.value, right.value)
}

/** The depth of both is bounded by the strict reader. */
function isEqual(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && isEqual(valueAt(a, key), valueAt(b, key)))
}

function valueAt(value: JsonValue, key: string): JsonValue {
  return (value as Readonly<Record<string, JsonValue>>)[key]!
}

function quote(text: string): string {
  return `"${clip(text, 80)}"`
}
