import type { RequestMessage } from './request-message.ts'
import { SentInOrder } from './sent-in-order.ts'
import type { CallPart, ProsePart, Turn } from './turn.ts'

/**
 * An assistant message of content blocks in their order, and a user message with all results. Reasoning goes back with its
 * signature, and only in front of what it led to.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html
 */
export function bedrockMessages(turn: Turn): readonly RequestMessage[] {
  const content = new SentInOrder(turn)
  for (const part of turn.parts) {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        if (part.text.trim() !== '') content.send({ text: part.text })
        break
      case 'reasoning': {
        const block = reasoningOf(part)
        if (block === undefined) turn.drop(part.block, part.whole ? 'no_proof' : 'cut_off')
        else content.wait(part, block)
        break
      }
      case 'call':
        content.send({ toolUse: { toolUseId: part.id, name: part.name, input: part.input } })
        break
      case 'opaque':
      case 'provider-call':
        turn.drop(part.block, 'no_word')
        break
      case 'gap':
        break
    }
  }
  content.lose()
  if (content.sent.length === 0) return []
  const message = { role: 'assistant', content: content.sent }
  return turn.calls.length === 0 ? [message] : [message, { role: 'user', content: turn.calls.map(resultOf) }]
}

function resultOf({ id, result }: CallPart): RequestMessage {
  return {
    toolResult: {
      toolUseId: id,
      content: [{ text: result.content }],
      status: result.isError === true ? 'error' : 'success',
    },
  }
}

function reasoningOf({ text, whole, metadata }: ProsePart): RequestMessage | undefined {
  const { signature, redactedContent } = metadata
  if (!whole) return undefined
  if (typeof redactedContent === 'string') return { reasoningContent: { redactedContent } }
  return typeof signature === 'string' ? { reasoningContent: { reasoningText: { text, signature } } } : undefined
}
