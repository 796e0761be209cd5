import type { HistoryApi, RequestMessage } from '../../src/history/index.ts'

type Fields = Readonly<Record<string, unknown>>

/** Ids of the calls and of the results in the messages of an API, in order. Gemini may have no ids: its names stand for them. */
export function idsIn(messages: readonly RequestMessage[], api: HistoryApi): { calls: unknown[]; results: unknown[] } {
  const calls: unknown[] = []
  const results: unknown[] = []
  for (const message of messages) {
    switch (api) {
      case 'chat_completions':
      case 'ollama':
      case 'cohere':
        for (const each of listOf(message['tool_calls'])) calls.push(each['id'])
        if (message['role'] === 'tool') results.push(message['tool_call_id'])
        break
      case 'responses':
        if (message['type'] === 'function_call' || message['type'] === 'custom_tool_call')
          calls.push(message['call_id'])
        if (/^(?:function|custom_tool)_call_output$/.test(String(message['type']))) results.push(message['call_id'])
        break
      case 'anthropic_messages':
        for (const { type, id, tool_use_id: answered } of listOf(message['content'])) {
          if (type === 'tool_use') calls.push(id)
          if (type === 'tool_result') results.push(answered)
        }
        break
      case 'bedrock_converse':
        for (const { toolUse, toolResult } of listOf(message['content'])) {
          if (toolUse !== undefined) calls.push((toolUse as Fields)['toolUseId'])
          if (toolResult !== undefined) results.push((toolResult as Fields)['toolUseId'])
        }
        break
      case 'gemini':
        for (const { functionCall, functionResponse } of listOf(message['parts'])) {
          if (functionCall !== undefined) calls.push(keyOf(functionCall as Fields))
          if (functionResponse !== undefined) results.push(keyOf(functionResponse as Fields))
        }
        break
    }
  }
  return { calls, results }
}

/** What no API takes: a message that says nothing, or thinking at the end of a Messages turn. */
export function emptyMessages(messages: readonly RequestMessage[], api: HistoryApi): readonly RequestMessage[] {
  return messages.filter((message) => {
    if (api === 'responses') return false
    const list = message['content'] ?? message['parts']
    if (Array.isArray(list)) {
      const last: unknown = (list as readonly unknown[]).at(-1)
      return last === undefined || /^(?:thinking|redacted_thinking)$/.test(String((last as Fields)['type']))
    }
    return message['role'] === 'assistant' && !list && !message['tool_calls'] && !message['refusal']
  })
}

function keyOf({ id, name }: Fields): unknown {
  return id ?? name
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Fields[]) : []
}
