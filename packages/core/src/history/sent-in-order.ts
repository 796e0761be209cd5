import type { RequestMessage } from './request-message.ts'
import type { ProsePart, Turn } from './turn.ts'

/** What a turn sends, in order. Reasoning is refused without what it led to, so it waits and goes only in front of that. */
export class SentInOrder {
  readonly sent: RequestMessage[] = []
  readonly #turn: Turn
  #waiting: { readonly part: ProsePart; readonly reasoning: RequestMessage }[] = []

  constructor(turn: Turn) {
    this.#turn = turn
  }

  wait(part: ProsePart, reasoning: RequestMessage): void {
    this.#waiting.push({ part, reasoning })
  }

  send(message: RequestMessage): void {
    for (const { reasoning } of this.#waiting) this.sent.push(reasoning)
    this.#waiting = []
    this.sent.push(message)
  }

  /** What the waiting reasoning led to is not sent. */
  lose(): void {
    for (const { part } of this.#waiting) this.#turn.drop(part.block, 'unpaired')
    this.#waiting = []
  }
}
