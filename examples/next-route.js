// app/v1/chat/completions/route.js of a Next.js app, or any handler that answers with a Response. A client that hangs up aborts
// the request to the upstream.
import { eventStreamResponse } from 'streamfold/server'
import { askUpstream } from './upstream.js'

export async function POST(request) {
  const stream = askUpstream(await request.json(), request.signal)
  return eventStreamResponse(stream.chunks(), 'chat_completions')
}
