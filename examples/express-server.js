//   UPSTREAM_API_KEY=… node express-server.js
import { pathToFileURL } from 'node:url'
import express from 'express'
import { encodeEventStream, sendEventStream } from 'streamfold/server'
import { askUpstream } from './upstream.js'

export const app = express()

app.use('/', express.static(new URL('typewriter', import.meta.url).pathname))
// The page reads the library as it is published: plain modules.
app.use('/streamfold', express.static(new URL('.', import.meta.resolve('streamfold')).pathname))

app.post('/v1/chat/completions', express.json({ limit: '10mb' }), (request, response) => {
  const stream = askUpstream(request.body)
  sendEventStream(response, encodeEventStream(stream.chunks(), 'chat_completions')).catch((error) =>
    console.error(error),
  )
})

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  app.listen(3000, () => console.error('http://localhost:3000/'))
}
