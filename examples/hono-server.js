//   UPSTREAM_API_KEY=… node hono-server.js
import { pathToFileURL } from 'node:url'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { eventStreamResponse } from 'streamfold/server'
import { askUpstream } from './upstream.js'

export const app = new Hono()

app.post('/v1/chat/completions', async (context) => {
  const stream = askUpstream(await context.req.json(), context.req.raw.signal)
  return eventStreamResponse(stream.chunks(), 'chat_completions')
})

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  serve({ fetch: app.fetch, port: 3000 }, ({ port }) => console.error(`http://localhost:${port}/v1`))
}
