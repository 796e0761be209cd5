// The one request that the server examples make: any API in, chunks out.
import { streamModel } from 'streamfold'

export function askUpstream(body, signal) {
  return streamModel({
    api: 'chat_completions',
    baseURL: process.env.UPSTREAM_URL ?? 'https://api.openai.com/v1',
    apiKey: process.env.UPSTREAM_API_KEY,
    body: { ...body, stream: true },
    signal,
    onReport: ({ outcome, attempts }) => console.error(`${outcome} after ${attempts.length} attempt(s)`),
  })
}
