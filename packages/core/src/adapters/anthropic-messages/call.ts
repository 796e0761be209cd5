import type { ToolCallDelta } from '../../chunk/chunk.ts'
import { clip } from '../../json/clip.ts'
import type { WholenessScanner } from '../../json/wholeness.ts'
import type { AdapterOutput } from '../adapter.ts'
import { endsInHalf } from '../half-character.ts'
import type { CallSlot, IndexKey } from '../slot.ts'
import { isSameInput } from './call-input.ts'
import type { StartInput } from './call-input.ts'
import type { CallStart } from './call-start.ts'

/**
 * One `tool_use`, `server_tool_use` or `mcp_tool_use` block. Its input comes in one of three ways: in deltas, not at all, or whole in
 * the block start; so the start's value counts only once the block is closed and no delta has said anything (fault F161).
 */
export class MessageCall implements CallSlot {
  readonly ordinal: number
  readonly key: IndexKey | undefined
  readonly arguments: WholenessScanner
  readonly idRepeated: boolean
  readonly block: number
  readonly callId: string
  providerCallId: string | undefined
  name: string | undefined
  /** The wire has stopped this block. */
  frozen = false
  /** It was opened behind a stop reason: only another one can close it. */
  late = false
  /** Its `block-end` was given out. */
  ended = false
  #input: StartInput | undefined
  #providerExecuted = false
  #touched = false
  #text = ''
  #held = ''
  #conflicted = false

  constructor(slot: CallSlot, block: number, callId: string) {
    this.ordinal = slot.ordinal
    this.key = slot.key
    this.arguments = slot.arguments
    this.idRepeated = slot.idRepeated
    this.providerCallId = slot.providerCallId
    this.block = block
    this.callId = callId
  }

  begin(start: CallStart, out: AdapterOutput): void {
    this.name = start.name
    this.providerCallId = start.id
    this.#input = start.input
    this.#providerExecuted = start.providerExecuted
    out.chunks.push({
      ...this.#delta(''),
      ...(start.name !== undefined && { name: start.name }),
      ...(start.id !== undefined && { providerCallId: start.id }),
      ...(start.providerExecuted && { providerExecuted: true }),
      ...(start.invalidUtf8 && { invalidUtf8: true }),
      ...(start.metadata !== undefined && { metadata: start.metadata }),
      ...(start.unsafe !== undefined && { unsafeArguments: start.unsafe }),
    })
  }

  /** The start of a block that is open: it may only say the same again. */
  beginAgain(start: CallStart, out: AdapterOutput): void {
    if (start.unsafe !== undefined) out.chunks.push({ ...this.#delta(''), unsafeArguments: start.unsafe })
    if (start.providerExecuted !== this.#providerExecuted) {
      this.conflict('the block was started twice, as a call for the caller and as one that the provider runs', out)
    } else if (start.name !== undefined && start.name !== this.name) {
      this.conflict(
        `the name changed from "${clip(this.name ?? '', 80)}" to "${clip(start.name, 80)}" inside one call`,
        out,
      )
    } else if (start.input.text !== '' && !isSameInput(start.input.text, this.#input?.text ?? '')) {
      this.conflict('the block was started twice, with different inputs', out)
    } else if (start.id !== undefined) this.providerCallId ??= start.id
  }

  /** A delta came, be it empty: the input is what the deltas say. */
  touch(): void {
    this.#touched = true
  }

  append(text: string, invalidUtf8: boolean, out: AdapterOutput): void {
    if (this.frozen) {
      if (text.trim() !== '') this.conflict('input came after the block was closed', out)
      return
    }
    // Only a start that has an input of its own is compared with it.
    if (this.#input !== undefined && this.#input.text !== '') this.#text += text
    this.arguments.push(text)
    let whole = this.#held + text
    this.#held = ''
    if (endsInHalf(whole)) {
      this.#held = whole.slice(-1)
      whole = whole.slice(0, -1)
    }
    if (whole !== '' || invalidUtf8) this.#emit(whole, invalidUtf8, out)
  }

  /** The wire closed the block. */
  stop(out: AdapterOutput): void {
    this.settleInput(out)
    this.frozen = true
    if (!this.late) this.end(out)
  }

  end(out: AdapterOutput): void {
    if (this.ended) return
    this.ended = true
    out.chunks.push({ type: 'block-end', index: this.block })
  }

  /** No more input comes: the value of the start counts where no delta said anything, else it must say what they said. */
  settleInput(out: AdapterOutput): void {
    if (this.#held !== '') this.#emit(this.#held, false, out)
    this.#held = ''
    const input = this.#input
    this.#input = undefined
    if (input === undefined) return
    if (input.text === '') {
      if (input.stated || this.#touched || this.#providerExecuted || this.arguments.state !== 'empty') return
      out.chunks.push({ ...this.#delta(''), unsafeArguments: 'the wire closed the call, and never stated its input' })
      return
    }
    if (this.arguments.state === 'empty') {
      if (input.serialised) out.note('arguments_as_object')
      out.chunks.push({
        ...this.#delta(input.text),
        ...(input.unsafe !== undefined && !this.#providerExecuted && { unsafeArguments: input.unsafe }),
      })
      this.arguments.push(input.text)
    } else if (!isSameInput(this.#text, input.text)) {
      const unsafeArguments = 'the input in the start of the block is not what its deltas say'
      out.chunks.push({ ...this.#delta(''), unsafeArguments })
    }
  }

  conflict(message: string, out: AdapterOutput): void {
    if (this.#conflicted) return
    this.#conflicted = true
    out.chunks.push({ ...this.#delta(''), conflict: { message } })
  }

  #emit(text: string, invalidUtf8: boolean, out: AdapterOutput): void {
    const delta = this.#delta(text)
    out.chunks.push(invalidUtf8 ? { ...delta, invalidUtf8: true } : delta)
  }

  #delta(argumentsDelta: string): ToolCallDelta {
    return { type: 'tool-call-delta', index: this.block, id: this.callId, argumentsDelta }
  }
}
