import type { RequestMessage } from './request-message.ts'
import { SentInOrder } from './sent-in-order.ts'
import type { CallPart, ProsePart, Turn } from './turn.ts'
import { isRecord } from '../json/value.ts'

/**
 * An assistant message of content blocks in their order, and a user message with all results. Thinking goes back with its
 * signature, and only in front of what it led to; what the provider's own tools did goes back in pairs of call and result.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */
export function anthropicHistory(turn: Turn): readonly RequestMessage[] {
  const pairs = pairsOf(turn)
  const content = new SentInOrder(turn)
  for (const part of turn.parts) {
    switch (part.kind) {
      case 'text':
        if (part.text.trim() !== '') content.send({ ...part.metadata, type: 'text', text: part.text })
        break
      case 'refusal':
        if (part.text.trim() !== '') content.send({ type: 'text', text: part.text })
        break
      case 'reasoning': {
        const block = thinkingOf(part)
        if (block === undefined) turn.drop(part.block, part.whole ? 'no_proof' : 'cut_off')
        else content.wait(part, block)
        break
      }
      case 'opaque':
        if (!part.whole) turn.drop(part.block, 'cut_off')
        else if (isSendable(part, pairs)) content.send(part.metadata)
        else turn.drop(part.block, typeof part.metadata['tool_use_id'] === 'string' ? 'unpaired' : 'no_word')
        break
      case 'call':
        content.send({ ...part.metadata, type: 'tool_use', id: part.id, name: part.name, input: part.input })
        break
      case 'provider-call':
        // The provider knows its own calls by the ids that it gave them.
        if (pairs.calls.has(part.block.callId)) {
          content.send({ ...part.metadata, id: part.block.callId, name: part.name, input: part.input })
        } else turn.drop(part.block, 'unpaired')
        break
      case 'gap':
        break
    }
  }
  // A message may not end with thinking.
  content.lose()
  if (content.sent.length === 0) return []
  const message = { role: 'assistant', content: content.sent }
  return turn.calls.length === 0 ? [message] : [message, { role: 'user', content: turn.calls.map(resultOf) }]
}

function resultOf({ id, result }: CallPart): RequestMessage {
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: result.content,
    ...(result.isError === true && { is_error: true }),
  }
}

function thinkingOf({ text, whole, metadata }: ProsePart): RequestMessage | undefined {
  if (!whole) return undefined
  if (typeof metadata['data'] === 'string') return { type: 'redacted_thinking', data: metadata['data'] }
  const { signature } = metadata
  return typeof signature === 'string' && signature !== '' ? { type: 'thinking', thinking: text, signature } : undefined
}

const PROVIDER_CALLS: ReadonlySet<unknown> = new Set(['server_tool_use', 'mcp_tool_use'])

interface Pairs {
  /** Calls of the provider that go back. */
  readonly calls: ReadonlySet<string>
  /** Calls of the provider in this turn, whether or not they go back. */
  readonly known: ReadonlySet<string>
}

/** A call of the provider goes back with its result, or while it is still at it: paused, or waiting for a call that we answer. */
function pairsOf({ parts, calls: answered, finish }: Turn): Pairs {
  const results = new Set<unknown>()
  for (const part of parts) if (part.kind === 'opaque' && isFaithful(part)) results.add(part.metadata['tool_use_id'])
  const callers = new Set<unknown>()
  for (const { metadata } of answered) {
    const { caller } = metadata
    if (isRecord(caller)) callers.add(caller['tool_id'])
  }
  const known = new Set<string>()
  const calls = new Set<string>()
  for (const part of parts) {
    if (part.kind !== 'provider-call' || !PROVIDER_CALLS.has(part.metadata['type'])) continue
    const id = part.block.callId
    known.add(id)
    if (part.whole && (finish === 'pause' || results.has(id) || callers.has(id))) calls.add(id)
  }
  return { calls, known }
}

function isSendable(part: ProsePart, { calls, known }: Pairs): boolean {
  const { tool_use_id: id } = part.metadata
  // A result whose call is in an earlier message continues a turn that was paused.
  return isFaithful(part) && (typeof id !== 'string' || calls.has(id) || !known.has(id))
}

/** Deltas that nobody knows were part of it: what there is, is not the block. */
function isFaithful({ whole, metadata }: ProsePart): boolean {
  return whole && metadata['deltas'] === undefined && typeof metadata['type'] === 'string'
}
