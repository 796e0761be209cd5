import type { AdapterOutput } from '../adapter.ts'
import { endsInHalf } from '../half-character.ts'
import type { CallSlot, IndexKey } from '../slot.ts'
import type { ToolCallDelta } from '../../chunk/chunk.ts'
import { clip } from '../../json/clip.ts'
import type { WholenessScanner } from '../../json/wholeness.ts'
import type { ToolFragment } from './tool-fragment.ts'

/** How names are put together; see {@link ProviderProfile.nameMerge}. */
export interface NameRules {
  readonly append: boolean
  readonly declared: readonly string[] | undefined
}

/** One call of a choice while its fragments arrive. Writes its own deltas. */
export class ChatCall implements CallSlot {
  readonly ordinal: number
  readonly key: IndexKey | undefined
  readonly arguments: WholenessScanner
  readonly idRepeated: boolean
  readonly choice: number
  readonly block: number
  readonly callId: string
  providerCallId: string | undefined
  name: string | undefined
  frozen = false
  /** Its `block-end` was given out. */
  ended = false
  #sentProviderCallId: string | undefined
  #sentName = false
  #announced = false
  #kind: ToolFragment['kind']
  #serialised: boolean | undefined
  #conflicted = false
  #held = ''

  constructor(slot: CallSlot, choice: number, block: number, callId: string) {
    this.ordinal = slot.ordinal
    this.key = slot.key
    this.arguments = slot.arguments
    this.idRepeated = slot.idRepeated
    this.providerCallId = slot.providerCallId
    this.choice = choice
    this.block = block
    this.callId = callId
  }

  /**
   * Takes a fragment that was found to belong to this call. The name is given out once it is settled: a server may cut it in
   * two before any argument comes, which only a declared tool or the profile can tell (tie-break of names).
   */
  take(fragment: ToolFragment, rules: NameRules, invalidUtf8: boolean, out: AdapterOutput): void {
    const { argumentsDelta, name } = fragment
    if (this.frozen) {
      if (argumentsDelta.trim() !== '') {
        this.conflict(`arguments came after the choice had finished: the call was already closed`, out)
      } else if (name !== undefined && name !== this.name) {
        this.conflict(
          `the name "${clip(name, 80)}" came after the choice had finished: the call was already closed`,
          out,
        )
      } else if (fragment.id !== undefined && fragment.id !== this.#sentProviderCallId) out.note('content_after_finish')
      return
    }
    this.#kind ??= fragment.kind
    if (fragment.kind !== undefined && fragment.kind !== this.#kind) {
      this.conflict('one fragment is for a function, another for a custom tool', out)
      return
    }
    if (name !== undefined && name !== this.name) {
      if (this.name === undefined) {
        if (this.arguments.state !== 'empty') out.note('name_late')
        this.name = name
      } else if (!this.#sentName && this.arguments.state === 'empty' && mayAppend(this.name + name, rules)) {
        this.name += name
      } else {
        this.conflict(`the name changed from "${clip(this.name, 80)}" to "${clip(name, 80)}" inside one call`, out)
      }
    }
    if (argumentsDelta !== '') {
      if (this.#serialised !== undefined && this.#serialised !== fragment.serialised) {
        fragment.unsafe ??= 'the arguments came partly as text and partly as a JSON value'
      }
      this.#serialised = fragment.serialised
    }
    this.arguments.push(argumentsDelta)
    const settled = this.name !== undefined && (this.arguments.state !== 'empty' || !mayGrow(this.name, rules))
    this.#emit(argumentsDelta, settled, out, fragment, invalidUtf8)
  }

  conflict(message: string, out: AdapterOutput): void {
    // Said once: a stream of ambiguous fragments must not be answered with a conflict for every call each time.
    if (this.#conflicted) return
    this.#conflicted = true
    out.chunks.push({ ...this.#delta(''), conflict: { message } })
  }

  /** The wire is done with this call: gives out what was held back. */
  flush(out: AdapterOutput): void {
    const rest = this.#held
    this.#held = ''
    if (rest !== '' || (!this.#sentName && this.name !== undefined)) this.#emitDelta(rest, true, out, undefined, false)
  }

  end(out: AdapterOutput): void {
    this.ended = true
    const index = this.block
    out.chunks.push(
      this.choice === 0 ? { type: 'block-end', index } : { type: 'block-end', choice: this.choice, index },
    )
  }

  #emit(text: string, settled: boolean, out: AdapterOutput, fragment: ToolFragment, invalidUtf8: boolean): void {
    let whole = text
    if (this.#held !== '') {
      whole = this.#held + text
      this.#held = ''
    }
    if (endsInHalf(whole)) {
      this.#held = whole.slice(-1)
      whole = whole.slice(0, -1)
    }
    this.#emitDelta(whole, settled, out, fragment, invalidUtf8)
  }

  #emitDelta(
    text: string,
    settled: boolean,
    out: AdapterOutput,
    fragment: ToolFragment | undefined,
    invalidUtf8: boolean,
  ): void {
    const sendName = settled && !this.#sentName && this.name !== undefined
    const sendId = this.providerCallId !== this.#sentProviderCallId
    const plain =
      this.#announced &&
      !sendName &&
      !sendId &&
      !invalidUtf8 &&
      fragment?.metadata === undefined &&
      fragment?.freeText !== true &&
      fragment?.unsafe === undefined
    if (plain) {
      if (text !== '') out.chunks.push(this.#delta(text))
      return
    }
    out.chunks.push({
      ...this.#delta(text),
      ...(sendName && { name: this.name }),
      ...(sendId && { providerCallId: this.providerCallId }),
      ...(fragment?.freeText && { freeText: true }),
      ...(invalidUtf8 && { invalidUtf8: true }),
      ...(fragment?.unsafe !== undefined && { unsafeArguments: fragment.unsafe }),
      ...(fragment?.metadata !== undefined && { metadata: fragment.metadata }),
    } as ToolCallDelta)
    this.#announced = true
    if (sendName) this.#sentName = true
    this.#sentProviderCallId = this.providerCallId
  }

  #delta(argumentsDelta: string): ToolCallDelta {
    const { choice, block: index, callId: id } = this
    return choice === 0
      ? { type: 'tool-call-delta', index, id, argumentsDelta }
      : { type: 'tool-call-delta', choice, index, id, argumentsDelta }
  }
}

function mayAppend(joined: string, rules: NameRules): boolean {
  return rules.append || rules.declared?.some((tool) => tool.startsWith(joined)) === true
}

function mayGrow(name: string, rules: NameRules): boolean {
  return rules.append || rules.declared?.some((tool) => tool !== name && tool.startsWith(name)) === true
}
