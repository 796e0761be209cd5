import type { ConversationEvent } from '@streamfold/tools'
import type { StreamReport } from 'streamfold'
import { clip } from 'streamfold/json'
import type { Output } from '../output.ts'
import { LiveView } from '../demo/live-view.ts'
import { fit } from '../report-text/display-width.ts'
import type { Theme } from '../report-text/theme.ts'
import type { CallStep } from './observed-calls.ts'

const MAX_CONTENT_CHARS = 500

/**
 * The transcript of a chat: what is said, and each call's way through its states. What is told while something is still being
 * written waits in line, so lines stand in the order in which things happened.
 */
export class ChatView {
  readonly #output: Output
  readonly #theme: Theme
  #turn: LiveView
  #last: Promise<void> = Promise.resolve()
  #failure: Error | undefined

  constructor(output: Output, theme: Theme) {
    this.#output = output
    this.#theme = theme
    this.#turn = new LiveView(output, theme)
  }

  event(event: ConversationEvent): void {
    switch (event.type) {
      case 'turn_started':
        return this.#next(async () => {
          await this.#turn.end()
          this.#turn = new LiveView(this.#output, this.#theme)
        })
      case 'model_event':
        return this.#next(() => this.#turn.event(event.event))
      case 'turn_abandoned':
        return this.#next(() =>
          this.#turn.hasShown
            ? this.#turn.note('taken', `back what this answer showed: ${event.code}: ${clip(event.message, 300)}`)
            : this.#turn.note('failed', `no answer: ${event.code}`),
        )
      case 'tool_results':
        return event.report === undefined ? undefined : this.#note('proof', proofOf(event.report))
      case 'tools_started':
    }
  }

  step(step: CallStep): void {
    this.#next(() => this.#turn.call(step, textOf(step)))
  }

  /** A line of what was said by somebody. */
  said(who: string, text: string): void {
    this.#note(who, clip(text, MAX_CONTENT_CHARS))
  }

  /** Asks something and leaves the line open for the answer; once everything before it stands there. */
  async question(label: string, text: string): Promise<void> {
    this.#next(async () => {
      await this.#turn.end()
      await this.#output.write(`${this.#theme.paint('bold', label)} ${text}`)
    })
    await this.settled()
  }

  /** Ends the line that {@link ChatView.question} left open, unless a terminal has shown the answer. */
  async answered(text: string | undefined): Promise<void> {
    if (text !== undefined && this.#output.isTTY) return
    this.#next(() => this.#output.write(`${clip(text ?? '', MAX_CONTENT_CHARS)}\n`))
    await this.settled()
  }

  /** Sets what follows apart. */
  end(): void {
    this.#next(() => this.#turn.end())
  }

  /** Everything told so far is written. Rejects when it could not be. */
  async settled(): Promise<void> {
    await this.#last
    if (this.#failure !== undefined) throw this.#failure
  }

  #note(label: string, text: string): void {
    this.#next(() => this.#turn.note(label, text))
  }

  #next(write: () => Promise<void>): void {
    this.#last = this.#last.then(write).catch((error: unknown) => {
      this.#failure ??= error instanceof Error ? error : new Error(String(error))
    })
  }
}

function textOf({ state, name, code, content, replayed, again }: CallStep): string {
  const what = content === undefined ? '' : `: ${clip(content, MAX_CONTENT_CHARS)}`
  const why = code === undefined ? '' : ` (${code})`
  switch (state) {
    case 'asked':
      return `waits for a yes: ${fit(name, 40)}`
    case 'executing':
      return again === undefined
        ? `executing ${fit(name, 40)}`
        : `executing ${fit(name, 40)} again: claim ${again}, the one before did not come to an end`
    case 'validated':
    case 'authorized':
      return state
    case 'succeeded':
    case 'failed':
    case 'unknown':
    case 'held':
      return `${state}${why}${what}${replayed === true ? ' (from the ledger, nothing ran)' : ''}`
  }
}

/** All rungs in a line, with the code of the first that did not hold. */
function proofOf({ verdict }: StreamReport): string {
  return Object.entries(verdict)
    .filter(([, { state }]) => state !== 'not_applicable')
    .map(([rung, { state, code }]) => `${rung} ${state}${code === undefined || state === 'pass' ? '' : ` (${code})`}`)
    .join(', ')
}
