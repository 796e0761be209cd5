import { isRecord } from './wire.ts'
import type { WireDelta } from './wire.ts'

/** Text that a delta carries, sorted by where it belongs. */
export interface DeltaText {
  readonly text: string
  readonly reasoning: string
  readonly refusal: string
  /** Parts that are neither, kept as they are. */
  readonly otherParts: readonly unknown[]
}

/**
 * `delta.content` as an array of typed parts (Mistral's reasoning models and relays of others, fault F033). `thinking` parts
 * are reasoning; unknown part types are kept, not guessed at.
 */
export function textOfParts(parts: readonly unknown[]): DeltaText {
  let text = ''
  let reasoning = ''
  let refusal = ''
  const otherParts: unknown[] = []
  for (const part of parts) {
    if (typeof part === 'string') text += part
    else if (!isRecord(part)) otherParts.push(part)
    else if (part['type'] === 'thinking' || part['type'] === 'reasoning') {
      reasoning += innerText(part['thinking'] ?? part['reasoning'] ?? part['text'])
    } else if (part['type'] === 'refusal' && typeof part['refusal'] === 'string') refusal += part['refusal']
    else if (isTextPart(part)) text += part.text
    else otherParts.push(part)
  }
  return { text, reasoning, refusal, otherParts }
}

/** Thinking is text, or a list of text parts: one level, for the wire decides how deep a recursion would go. */
function innerText(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return ''
  return value.map((part: unknown) => (typeof part === 'string' ? part : isTextPart(part) ? part.text : '')).join('')
}

function isTextPart(part: unknown): part is { readonly text: string } {
  if (!isRecord(part) || typeof part['text'] !== 'string') return false
  return part['type'] === 'text' || part['type'] === 'output_text'
}

/** Reasoning of one delta, and whether two spellings said different things. */
export interface DeltaReasoning {
  readonly text: string
  readonly duplicated: boolean
  readonly contradicts: boolean
}

/**
 * Reasoning under its spellings: `reasoning`, `reasoning_content`, `reasoning_text`, and the texts of `reasoning_details`. Equal
 * twins in one delta are one text (fault F048).
 */
export function reasoningOf(delta: WireDelta): DeltaReasoning | undefined {
  const a = delta.reasoning_content
  const b = delta.reasoning
  const c = delta.reasoning_text
  const first = isText(b) ? b : isText(a) ? a : isText(c) ? c : undefined
  if (first !== undefined) {
    const others = [a, b, c].filter((value): value is string => isText(value))
    return {
      text: first,
      duplicated: others.length > 1,
      contradicts: others.some((other) => other !== first),
    }
  }
  if (!Array.isArray(delta.reasoning_details)) return undefined
  let text = ''
  for (const detail of delta.reasoning_details) {
    if (!isRecord(detail)) continue
    if (typeof detail['text'] === 'string') text += detail['text']
    else if (typeof detail['summary'] === 'string') text += detail['summary']
  }
  return text === '' ? undefined : { text, duplicated: false, contradicts: false }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
