// A chat route with the AI SDK, for any framework with Request and Response. `guardFetch` in `normalise` mode also mends what the
// server says differently, so the provider package reads clean events.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { convertToModelMessages, streamText } from 'ai'
import { guardFetch } from 'streamfold'

const provider = createOpenAICompatible({
  name: 'upstream',
  baseURL: process.env.UPSTREAM_URL ?? 'https://api.openai.com/v1',
  apiKey: process.env.UPSTREAM_API_KEY,
  fetch: guardFetch(fetch, { mode: 'normalise', errors: 'event' }),
})

export async function POST(request) {
  const { messages } = await request.json()
  const result = streamText({
    model: provider(process.env.MODEL ?? 'gpt-5-mini'),
    messages: await convertToModelMessages(messages),
    abortSignal: request.signal,
    onError: ({ error }) => console.error(error),
  })
  return result.toUIMessageStreamResponse({
    onError: (error) => error?.message ?? String(error),
  })
}
