// The official OpenAI client, with guardFetch as its fetch: a stream that was cut, stalled or broke off raises a StreamError where the
// client alone would end as if all were well.
//
//   OPENAI_API_KEY=… node openai-guard.js "Why is the sky blue?"
import { pathToFileURL } from 'node:url'
import OpenAI from 'openai'
import { guardFetch, StreamError } from 'streamfold'

export async function answer(question, { write, ...options } = {}) {
  const client = new OpenAI({
    ...options,
    fetch: guardFetch(fetch, {
      timeouts: { idleMs: 30_000 },
      // One line for the log; it holds no content.
      onReport: ({ outcome, usage, timing }) =>
        console.error(`${outcome}, ${usage?.outputTokens ?? '?'} tokens, first after ${timing.timeToFirstOutputMs} ms`),
    }),
  })
  const stream = await client.chat.completions.create({
    model: process.env.MODEL ?? 'gpt-5-mini',
    messages: [{ role: 'user', content: question }],
    stream: true,
  })
  for await (const { choices } of stream) write(choices[0]?.delta.content ?? '')
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await answer(process.argv[2] ?? 'Why is the sky blue?', { write: (text) => process.stdout.write(text) })
  } catch (error) {
    if (!StreamError.is(error)) throw error
    console.error(`\n${error.code}: ${error.message}`)
    process.exitCode = 1
  }
}
