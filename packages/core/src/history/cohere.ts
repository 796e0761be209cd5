import type { RequestMessage } from './request-message.ts'
import { dropKinds, textOf } from './turn.ts'
import type { Turn } from './turn.ts'

/**
 * One assistant message and a tool message for each of its calls. What led to the calls goes back as their plan.
 *
 * @see https://docs.cohere.com/v2/docs/tool-use-overview
 */
export function cohereMessages(turn: Turn): readonly RequestMessage[] {
  dropKinds(turn, turn.calls.length > 0 ? ['opaque', 'provider-call'] : ['reasoning', 'opaque', 'provider-call'])
  const content = textOf(turn, 'text') + textOf(turn, 'refusal')
  if (turn.calls.length === 0) return content === '' ? [] : [{ role: 'assistant', content }]
  const plan = textOf(turn, 'reasoning')
  const message = {
    role: 'assistant',
    ...(plan !== '' && { tool_plan: plan }),
    ...(content !== '' && { content }),
    tool_calls: turn.calls.map(({ id, name, argumentsText }) => ({
      id,
      type: 'function',
      function: { name, arguments: argumentsText },
    })),
  }
  const results = turn.calls.map(({ id, result }) => ({
    role: 'tool',
    tool_call_id: id,
    content: [{ type: 'document', document: { data: result.content } }],
  }))
  return [message, ...results]
}
