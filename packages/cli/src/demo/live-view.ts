import type { CallSnapshot, StreamEvent } from 'streamfold'
import { clip, utf8Length } from 'streamfold/json'
import type { Output } from '../output.ts'
import { fit } from '../report-text/display-width.ts'
import { bytesText } from '../report-text/quantities.ts'
import type { Theme } from '../report-text/theme.ts'

const LABEL_COLUMNS = 9

/** Prints a stream while it comes: text as it arrives, and each call's way through its states. Plain lines, no cursor moves. */
export class LiveView {
  readonly #output: Output
  readonly #theme: Theme
  readonly #states = new Map<string, string>()
  /** What the line that is open holds, undefined at the beginning of a line. */
  #open: string | undefined
  #shown = false

  constructor(output: Output, theme: Theme) {
    this.#output = output
    this.#theme = theme
  }

  /** Shows one event; `calls` are the calls of its choice as they are after it. */
  async event(event: StreamEvent, calls: readonly CallSnapshot[]): Promise<void> {
    if (event.type === 'text_delta') await this.#piece('text', event.text)
    else if (event.type === 'reasoning_delta') await this.#piece('thinking', event.text)
    else if (event.type === 'refusal_delta') await this.#piece('refusal', event.text)
    for (const call of calls) await this.#state(call)
    if (event.type === 'tool_call_arguments_delta') {
      const call = calls.find(({ callId }) => callId === event.callId)
      await this.#piece(call === undefined ? 'call' : labelOf(call), event.text)
    } else if (event.type === 'tool_batch_ready') {
      for (const call of event.calls) {
        const { name, parsedArguments, ordinal } = call
        await this.#line(labelOf(call), `released: ${fit(name, 40)}(${clip(JSON.stringify(parsedArguments), 1000)})`)
        this.#states.set(`${event.choice}/${ordinal}`, 'released')
      }
    } else if (event.type === 'tool_call_held') await this.#word(calls, event.callId, `held: ${event.code}`)
    else if (event.type === 'tool_call_failed') await this.#word(calls, event.callId, `failed: ${event.code}`)
  }

  async #line(label: string, text: string): Promise<void> {
    await this.#close()
    this.#shown = true
    await this.#output.write(`${this.#label(label)}${text}\n`)
  }

  /** Sets what follows apart from what was shown. */
  async end(): Promise<void> {
    await this.#close()
    if (this.#shown) await this.#output.write('\n')
  }

  /** Ends the line that is open. */
  async #close(): Promise<void> {
    if (this.#open === undefined) return
    this.#open = undefined
    await this.#output.write('\n')
  }

  /** A move to `complete` has no event of its own: the machine is asked after each event. */
  async #state(call: CallSnapshot): Promise<void> {
    const key = `${call.choice}/${call.ordinal}`
    const { state, name, callId, argumentsText } = call
    if (this.#states.get(key) === state || this.#states.get(key) === 'released' || state === 'failed') return
    this.#states.set(key, state)
    const what =
      state === 'collecting'
        ? `${fit(name ?? '(no name yet)', 40)} (${fit(callId, 40)}): collecting`
        : `${state}, ${bytesText(utf8Length(argumentsText))} of arguments`
    await this.#line(labelOf(call), what)
  }

  async #word(calls: readonly CallSnapshot[], callId: string, word: string): Promise<void> {
    const call = calls.find((candidate) => candidate.callId === callId)
    await this.#line(call === undefined ? 'call' : labelOf(call), word)
  }

  async #piece(label: string, text: string): Promise<void> {
    if (this.#open !== label) {
      await this.#close()
      this.#open = label
      this.#shown = true
      await this.#output.write(this.#label(label))
    }
    // Line breaks of the model are kept, whatever else could move the cursor is not.
    const lines = text.split(/\r?\n/).map((line) => clip(line, Infinity))
    await this.#output.write(lines.join(`\n${' '.repeat(LABEL_COLUMNS)}`))
  }

  #label(label: string): string {
    return this.#theme.paint('gray', label.padEnd(LABEL_COLUMNS))
  }
}

function labelOf({ ordinal }: { readonly ordinal: number }): string {
  return `call ${ordinal + 1}`
}
