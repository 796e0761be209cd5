import type { StreamEvent } from '../../../src/chunk/stream-event.ts'
import { streamModel } from '../../../src/client/model-stream.ts'
import type { ModelStream, StreamModelOptions } from '../../../src/client/model-stream.ts'
import { fakeFetch } from '../fake-fetch.ts'
import type { Answer } from '../fake-fetch.ts'

export function open(answers: readonly Answer[], options: Partial<StreamModelOptions> = {}): ModelStream {
  const { fetch } = fakeFetch(...answers)
  return streamModel({ api: 'chat_completions', body: { model: 'm', messages: [] }, retry: false, fetch, ...options })
}

/** The events to the end, and what was thrown there. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<{ items: Item[]; error: unknown }> {
  const all: Item[] = []
  try {
    for await (const item of items) all.push(item)
  } catch (error) {
    return { items: all, error }
  }
  return { items: all, error: undefined }
}

export const types = (events: readonly StreamEvent[]): readonly string[] => events.map(({ type }) => type)
