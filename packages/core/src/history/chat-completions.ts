import type { RequestMessage } from './request-message.ts'
import { dropKinds, textOf } from './turn.ts'
import type { CallPart, Turn } from './turn.ts'
import { isRecord } from '../json/value.ts'

/**
 * One assistant message and a tool message for each of its calls. Fields of a call that only the server reads go back with it (a
 * thought signature in `extra_content`, fault F179), and so do `reasoning_details`. Reasoning as text goes back only under the
 * field that the caller names: some servers ask for it, others refuse it.
 *
 * @see https://platform.openai.com/docs/api-reference/chat/create
 */
export function chatMessages(turn: Turn, reasoningField: string | undefined): readonly RequestMessage[] {
  const details = detailsOf(turn.metadata['reasoning_details'])
  const saysReasoning = reasoningField !== undefined || details.length > 0
  dropKinds(turn, saysReasoning ? ['opaque', 'provider-call'] : ['reasoning', 'opaque', 'provider-call'])
  const text = textOf(turn, 'text')
  const refusal = textOf(turn, 'refusal')
  if (text === '' && refusal === '' && turn.calls.length === 0) return []
  const reasoning = textOf(turn, 'reasoning')
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(refusal !== '' && { refusal }),
    ...(reasoningField !== undefined && reasoning !== '' && { [reasoningField]: reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(turn.calls.length > 0 && { tool_calls: turn.calls.map(callOf) }),
  }
  return [message, ...turn.calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result.content }))]
}

function callOf({ id, name, argumentsText, metadata, block }: CallPart): RequestMessage {
  return block.freeText === true
    ? { ...metadata, id, type: 'custom', custom: { name, input: argumentsText } }
    : { ...metadata, id, type: 'function', function: { name, arguments: argumentsText } }
}

/** `reasoning_details` come in pieces under an index; they are sent back as the blocks they were cut from. */
function detailsOf(pieces: unknown): readonly RequestMessage[] {
  const details: Record<string, unknown>[] = []
  for (const piece of Array.isArray(pieces) ? pieces : []) {
    if (!isRecord(piece)) continue
    const last = details.at(-1)
    const same = last !== undefined && piece['index'] !== undefined && last['index'] === piece['index']
    if (!same || last['type'] !== piece['type']) {
      details.push({ ...piece })
      continue
    }
    for (const [key, value] of Object.entries(piece)) {
      const grows = key === 'text' || key === 'summary' || key === 'data'
      const before = last[key]
      if (grows && typeof before === 'string' && typeof value === 'string') last[key] = before + value
      else if (value !== null) last[key] = value
    }
  }
  return details
}
