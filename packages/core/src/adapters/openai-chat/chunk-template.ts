import type { ServerSentEvent } from '../../sse/event.ts'
import { isPlain, PayloadTemplate } from '../payload-template.ts'
import type { ChatChoice } from './choice.ts'
import type { ToolFragment } from './tool-fragment.ts'
import { isRecord } from './wire.ts'
import type { WireDelta } from './wire.ts'

/** The delta of a chunk that is otherwise the one before. */
export type TemplateDelta =
  | { readonly kind: 'text'; text: string }
  | { readonly kind: 'arguments'; fragment: ToolFragment }
  | { readonly kind: 'other'; value: WireDelta }

const TEXT_START = '{"content":"'
const TEXT_END = '"}'
const CALL_START = '{"tool_calls":[{"index":'
const CALL_MIDDLE = ',"function":{"arguments":"'
const CALL_END = '"}}]}'

/**
 * The {@link PayloadTemplate} of Chat Completions: the hole is `choices[0].delta`, the padding `obfuscation`. The two deltas that
 * make up nearly every stream, a piece of text and a piece of arguments, are read from the text itself; both are whole JSON
 * values by their form alone once what stands between their quotes is one string.
 */
export class ChunkTemplate {
  /** The choice that the remembered chunk belongs to. */
  choice: ChatChoice | undefined
  readonly #template = new PayloadTemplate({
    key: '"delta":',
    valueOf: (payload) => {
      const choices = isRecord(payload) ? payload['choices'] : undefined
      const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
      return isRecord(choice) ? choice['delta'] : undefined
    },
    paddingKey: '"obfuscation":"',
    paddingOf: (payload) => (isRecord(payload) ? payload['obfuscation'] : undefined),
  })
  readonly #text: TemplateDelta & { kind: 'text' } = { kind: 'text', text: '' }

  /** The delta, when the rest of the payload is known; undefined when the payload must be read as a whole. */
  match(event: ServerSentEvent): TemplateDelta | undefined {
    const { data } = event
    const template = this.#template
    if (!template.match(data)) return undefined
    if (event.event !== undefined || event.incomplete || event.invalidUtf8 || event.fields !== undefined)
      return undefined
    const { from, to } = template
    return textDelta(data, from, to, this.#text) ?? argumentsDelta(data, from, to) ?? otherDelta(data, from, to)
  }

  learn(data: string, choice: ChatChoice): void {
    this.choice = choice
    // Also when it learns nothing: what it remembered belonged to the choice before.
    this.#template.learn(data)
  }

  forget(): void {
    this.#template.forget()
  }
}

function textDelta(
  data: string,
  from: number,
  to: number,
  into: TemplateDelta & { kind: 'text' },
): TemplateDelta | undefined {
  const start = from + TEXT_START.length
  const end = to - TEXT_END.length
  if (end < start || data.slice(from, start) !== TEXT_START || data.slice(end, to) !== TEXT_END) return undefined
  if (!isPlain(data, start, end)) return undefined
  into.text = data.slice(start, end)
  return into
}

function argumentsDelta(data: string, from: number, to: number): TemplateDelta | undefined {
  const start = from + CALL_START.length
  if (start > to || data.slice(from, start) !== CALL_START) return undefined
  let at = start
  let index = 0
  // Two digits at the most: a leading zero is no JSON number, and longer ones are not worth a fast path.
  for (; at < start + 2; at++) {
    const digit = data.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) break
    index = index * 10 + digit
  }
  if (at === start || (at - start === 2 && data.charCodeAt(start) === 0x30)) return undefined
  const open = at + CALL_MIDDLE.length
  const close = to - CALL_END.length
  if (close < open || data.slice(at, open) !== CALL_MIDDLE || data.slice(close, to) !== CALL_END) return undefined
  const argumentsText = stringBetween(data, open, close)
  if (argumentsText === undefined) return undefined
  return {
    kind: 'arguments',
    fragment: {
      index,
      id: undefined,
      name: undefined,
      argumentsDelta: argumentsText,
      serialised: false,
      freeText: false,
      kind: 'function',
      metadata: undefined,
    },
  }
}

function stringBetween(data: string, from: number, to: number): string | undefined {
  if (isPlain(data, from, to)) return data.slice(from, to)
  // With its quotes: what is between them must be one string, or this is not the delta that it looks like.
  const value = parse(data.slice(from - 1, to + 1))
  return typeof value === 'string' ? value : undefined
}

function otherDelta(data: string, from: number, to: number): TemplateDelta | undefined {
  const value = parse(data.slice(from, to))
  return isRecord(value) ? { kind: 'other', value } : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
