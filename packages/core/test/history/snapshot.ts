import type { TextBlock, ToolCallBlock } from '../../src/chunk/content-block.ts'
import type { FinishReason } from '../../src/chunk/finish-reason.ts'
import type { StreamSnapshot } from '../../src/accumulate/snapshot.ts'
import { toRequestMessages } from '../../src/history/index.ts'
import type { CallResult, HistoryApi, HistoryOptions, RequestMessage } from '../../src/history/index.ts'

type Metadata = Readonly<Record<string, unknown>>
type Unplaced = Omit<TextBlock, 'index'> | Omit<ToolCallBlock, 'index'>

/** The snapshot of a stream that has ended, with these blocks in its only choice. */
export function ended(
  blocks: readonly Unplaced[],
  reason: FinishReason | null = 'tool-calls',
  metadata?: Metadata,
): StreamSnapshot {
  return {
    version: 1,
    choices: [
      {
        index: 0,
        blocks: blocks.map((block, index) => ({ ...block, index })),
        ...(reason !== null && { finish: { reason, raw: reason } }),
        ...(metadata !== undefined && { metadata }),
      },
    ],
    ended: true,
  }
}

export function prose(type: TextBlock['type'], text: string, metadata?: Metadata): Omit<TextBlock, 'index'> {
  return { type, text, status: 'done', ...(metadata !== undefined && { metadata }) }
}

export const text = (value: string, metadata?: Metadata): Omit<TextBlock, 'index'> => prose('text', value, metadata)

export function call(
  callId: string,
  name: string,
  argumentsText: string,
  extra: Partial<ToolCallBlock> = {},
): Omit<ToolCallBlock, 'index'> {
  return { type: 'tool-call', callId, providerCallId: callId, name, argumentsText, status: 'done', ...extra }
}

export function answer(callId: string, content = 'ok', isError?: boolean): CallResult {
  return { callId, content, ...(isError !== undefined && { isError }) }
}

/** The messages, and what was dropped: `text other_api`. */
export function written(
  snapshot: StreamSnapshot,
  results: readonly CallResult[],
  api: HistoryApi,
  options: HistoryOptions = {},
): { readonly messages: readonly RequestMessage[]; readonly dropped: readonly string[] } {
  const dropped: string[] = []
  const messages = toRequestMessages(snapshot, results, api, {
    ...options,
    onDropped: ({ block, reason }) => dropped.push(`${block.type} ${reason}`),
  })
  return { messages, dropped }
}
