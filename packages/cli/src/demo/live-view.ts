import type { StreamEvent } from 'streamfold'
import { clip, utf8Length } from 'streamfold/json'
import type { Output } from '../output.ts'
import { fit } from '../report-text/display-width.ts'
import { bytesText } from '../report-text/quantities.ts'
import type { Theme } from '../report-text/theme.ts'

const LABEL_COLUMNS = 9

/**
 * Prints a stream while it comes: text as it arrives, and each call's way through its states. Plain lines, no cursor moves.
 * Only events are looked at: one read can bring many, and the engine's own view is then ahead of the event that is shown.
 */
export class LiveView {
  readonly #output: Output
  readonly #theme: Theme
  /** Number of each call, from 1, in the order of first appearance. */
  readonly #numbers = new Map<string, number>()
  /** What the line that is open holds, undefined at the beginning of a line. */
  #open: string | undefined
  #shown = false

  constructor(output: Output, theme: Theme) {
    this.#output = output
    this.#theme = theme
  }

  /** Something stands on the screen that nothing has set apart yet. */
  get hasShown(): boolean {
    return this.#shown
  }

  async event(event: StreamEvent): Promise<void> {
    switch (event.type) {
      case 'text_delta':
        return await this.#piece('text', event.text)
      case 'reasoning_delta':
        return await this.#piece('thinking', event.text)
      case 'refusal_delta':
        return await this.#piece('refusal', event.text)
      case 'tool_call_started':
        return await this.#line(this.#call(event), `${fit(event.name, 40)} (${fit(event.callId, 40)}): collecting`)
      case 'tool_call_arguments_delta':
        return await this.#piece(this.#call(event), event.text)
      case 'tool_call_ready':
        return await this.#line(
          this.#call(event),
          `complete, ${bytesText(utf8Length(event.argumentsText))} of arguments`,
        )
      case 'tool_call_held':
        return await this.#line(this.#call(event), `held: ${event.code}`)
      case 'tool_call_failed':
        return await this.#line(this.#call(event), `failed: ${event.code}`)
      case 'tool_batch_ready':
        for (const { callId, name, parsedArguments } of event.calls) {
          const text = `released: ${fit(name, 40)}(${clip(JSON.stringify(parsedArguments), 1000)})`
          await this.#line(this.#call({ choice: event.choice, callId }), text)
        }
        return
      // The report that follows tells of these.
      case 'stream_started':
      case 'attempt_failed':
      case 'usage':
      case 'stream_completed':
      case 'stream_error':
    }
  }

  /** A line about a call, for what becomes of it after the stream. */
  async call(call: { readonly choice: number; readonly callId: string }, text: string): Promise<void> {
    await this.#line(this.#call(call), text)
  }

  /** A line of its own. */
  async note(label: string, text: string): Promise<void> {
    await this.#line(label, text)
  }

  async #line(label: string, text: string): Promise<void> {
    await this.#close()
    this.#shown = true
    await this.#output.write(`${this.#label(label)}${text}\n`)
  }

  /** Sets what follows apart from what was shown. */
  async end(): Promise<void> {
    await this.#close()
    if (!this.#shown) return
    this.#shown = false
    await this.#output.write('\n')
  }

  /** Ends the line that is open. */
  async #close(): Promise<void> {
    if (this.#open === undefined) return
    this.#open = undefined
    await this.#output.write('\n')
  }

  /** Label of a call. */
  #call({ choice, callId }: { readonly choice: number; readonly callId: string }): string {
    const key = `${choice}/${callId}`
    const number = this.#numbers.get(key) ?? this.#numbers.size + 1
    this.#numbers.set(key, number)
    return `call ${number}`
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
