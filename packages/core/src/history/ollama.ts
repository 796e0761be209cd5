import type { RequestMessage } from './request-message.ts'
import { dropKinds, textOf } from './turn.ts'
import type { Turn } from './turn.ts'

/**
 * One assistant message and a tool message for each of its calls, which are told apart by name and order.
 *
 * @see https://docs.ollama.com/capabilities/tool-calling
 */
export function ollamaMessages(turn: Turn): readonly RequestMessage[] {
  dropKinds(turn, ['opaque', 'provider-call'])
  const content = textOf(turn, 'text') + textOf(turn, 'refusal')
  if (content === '' && turn.calls.length === 0) return []
  const thinking = textOf(turn, 'reasoning')
  const message = {
    role: 'assistant',
    content,
    ...(thinking !== '' && { thinking }),
    ...(turn.calls.length > 0 && {
      tool_calls: turn.calls.map(({ id, name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: input },
      })),
    }),
  }
  const results = turn.calls.map(({ id, name, result }) => ({
    role: 'tool',
    tool_name: name,
    tool_call_id: id,
    content: result.content,
  }))
  return [message, ...results]
}
