import { createStreamEngine } from '../../packages/core/dist/engine/index.js'
import { chatCompletions } from '../../packages/core/dist/adapters/index.js'
import { parseEventStream } from '../../packages/core/dist/client/index.js'
import { createEventStreamParser } from '../../packages/core/dist/sse/index.js'

export function oursFraming(reads, emit, options) {
  const parser = createEventStreamParser(options)
  for (const read of reads) {
    const events = parser.push(read)
    for (let i = 0; i < events.length; i++) emit(events[i])
  }
}

/** Bytes → StreamEvents + snapshot. Returns the final message. */
export function oursEndToEnd(reads, { template = true } = {}) {
  const engine = createStreamEngine({ adapter: chatCompletions({}, { template }) })
  let given = 0
  for (const read of reads) given += engine.push(read).length
  engine.end('eof')
  if (given === 0) throw new Error('no events')
  return messageOf(engine)
}

export function messageOf(engine) {
  const snapshot = engine.snapshot()
  const choice = snapshot.choices[0]
  let text = ''
  const calls = []
  for (const block of choice.blocks) {
    if (block.type === 'text') text += block.text
    else if (block.type === 'tool-call')
      calls.push({ id: block.callId, name: block.name, arguments: block.argumentsText })
  }
  return { text, finish: choice.finish.raw, calls }
}

export async function oursAsync(stream, take) {
  for await (const event of parseEventStream(stream)) take(event)
}
