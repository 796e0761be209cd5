import type { JsonObject } from 'streamfold'
import { HISTORY_APIS, toRequestMessages } from 'streamfold/history'
import type { HistoryApi, RequestMessage } from 'streamfold/history'
import { toolDeclarations } from '../define/declarations.ts'
import type { Tool } from '../define/tool.ts'
import type { AssistantMessage, InstructionMessage, Message, ToolMessage } from './message.ts'

type Content = InstructionMessage['content']

/** Where an API wants the parts of a conversation, and in which form. */
interface BodyShape {
  readonly history: 'messages' | 'input' | 'contents'
  /** Instructions have a place of their own outside of the history. */
  readonly system?: (contents: readonly Content[]) => JsonObject
  readonly user: (content: Content) => RequestMessage
  readonly tools: (declarations: readonly JsonObject[]) => JsonObject
}

const textPart = (text: string): JsonObject => ({ text })
const parts = (content: Content, part: (text: string) => JsonObject): readonly JsonObject[] =>
  typeof content === 'string' ? [part(content)] : content

const MESSAGES: BodyShape = {
  history: 'messages',
  user: (content) => ({ role: 'user', content }),
  tools: (tools) => ({ tools }),
}

const SHAPES: Readonly<Record<HistoryApi, BodyShape>> = {
  chat_completions: MESSAGES,
  ollama: MESSAGES,
  cohere: MESSAGES,
  responses: { ...MESSAGES, history: 'input' },
  anthropic_messages: {
    ...MESSAGES,
    system: (contents) => ({
      system: contents.flatMap((content) => parts(content, (text) => ({ type: 'text', text }))),
    }),
  },
  gemini: {
    history: 'contents',
    system: (contents) => ({
      systemInstruction: { parts: contents.flatMap((content) => parts(content, textPart)) },
    }),
    user: (content) => ({ role: 'user', parts: parts(content, textPart) }),
    tools: (tools) => ({ tools }),
  },
  bedrock_converse: {
    history: 'messages',
    system: (contents) => ({ system: contents.flatMap((content) => parts(content, textPart)) }),
    user: (content) => ({ role: 'user', content: parts(content, textPart) }),
    tools: (tools) => ({ toolConfig: { tools } }),
  },
}

/**
 * The fields of a request body that carry a conversation: history, instructions and tools, in the words of the API.
 *
 * @throws TypeError for an assistant's message without its snapshot: only that has what some APIs want back
 */
export function conversationFields(
  api: HistoryApi,
  messages: readonly Message[],
  tools: readonly Tool[],
): Readonly<Record<string, unknown>> {
  const shape = SHAPES[api]
  const history: RequestMessage[] = []
  const system: Content[] = []
  const usedIds = new Set<string>()
  for (const [at, message] of messages.entries()) {
    if (message.role === 'assistant') history.push(...turnOf(api, message, resultsAfter(messages, at), usedIds))
    else if (message.role === 'user') history.push(shape.user(message.content))
    else if (message.role === 'system') {
      if (shape.system === undefined) history.push({ role: 'system', content: message.content })
      else system.push(message.content)
    }
  }
  return {
    ...(shape.system === undefined || system.length === 0 ? {} : shape.system(system)),
    [shape.history]: history,
    ...(tools.length === 0 ? {} : shape.tools(toolDeclarations(tools, api))),
  }
}

/** A turn and the results of its calls, as the API that is asked now has them, whichever gave the answer. */
function turnOf(
  api: HistoryApi,
  message: AssistantMessage,
  results: readonly ToolMessage[],
  usedIds: Set<string>,
): readonly RequestMessage[] {
  if (message.snapshot === undefined) {
    throw new TypeError(
      'an assistant message without its snapshot can’t be sent back; give the model’s answer a snapshot()',
    )
  }
  const from = HISTORY_APIS.find((known) => known === message.api)
  const answers = results.map(({ callId, content, status }) => ({ callId, content, isError: status !== 'succeeded' }))
  const written = toRequestMessages(message.snapshot, answers, api, {
    usedIds,
    ...(from === undefined ? {} : { from }),
  })
  for (const { callId, providerCallId } of message.toolCalls) usedIds.add(providerCallId ?? callId)
  return written
}

function resultsAfter(messages: readonly Message[], at: number): readonly ToolMessage[] {
  const results: ToolMessage[] = []
  for (let next = at + 1; next < messages.length; next++) {
    const message = messages[next] as Message
    if (message.role !== 'tool') break
    results.push(message)
  }
  return results
}
