import type { ServerSentEvent } from '../../sse/event.ts'
import { isPlain, PayloadTemplate } from '../payload-template.ts'
import { isRecord } from '../wire-value.ts'

const EVENT = 'content_block_delta'

/** The deltas that make up nearly every stream, as serialisers write them: the text between start and end is one JSON string. */
const FORMS = [
  { type: 'text_delta', field: 'text', start: '{"type":"text_delta","text":"' },
  { type: 'thinking_delta', field: 'thinking', start: '{"type":"thinking_delta","thinking":"' },
  { type: 'input_json_delta', field: 'partial_json', start: '{"type":"input_json_delta","partial_json":"' },
] as const
const END = '"}'

/**
 * The {@link PayloadTemplate} of Messages: the hole is the delta of a `content_block_delta`. What is the same in two such events of
 * one block is its index, and that is all that counts beside the delta.
 */
export class DeltaTemplate {
  /** The index in the remembered event, as it was sent. */
  index: unknown
  readonly #template = new PayloadTemplate({
    key: '"delta":',
    valueOf: (payload) => (isRecord(payload) ? payload['delta'] : undefined),
  })

  /** The delta, when the rest of the event is known; undefined when the event must be read as a whole. */
  match(event: ServerSentEvent): Readonly<Record<string, unknown>> | undefined {
    const { data } = event
    if (event.event !== undefined && event.event !== EVENT) return undefined
    if (event.incomplete || event.fields !== undefined || !this.#template.match(data)) return undefined
    const { from, to } = this.#template
    const close = to - END.length
    for (const { type, field, start } of FORMS) {
      const open = from + start.length
      if (close < open || data.slice(from, open) !== start || data.slice(close, to) !== END) continue
      const text = stringBetween(data, open, close)
      return text === undefined ? undefined : { type, [field]: text }
    }
    return undefined
  }

  /** Learns from an event that was just read, and was a delta and no error. */
  learn(data: string, index: unknown): void {
    this.index = index
    this.#template.learn(data)
  }
}

/** The string whose quotes stand around this part; undefined when that is not one string. */
function stringBetween(data: string, from: number, to: number): string | undefined {
  if (isPlain(data, from, to)) return data.slice(from, to)
  try {
    const value: unknown = JSON.parse(data.slice(from - 1, to + 1))
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
