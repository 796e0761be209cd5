import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText, tool, jsonSchema } from 'ai'
import { ChatOpenAI } from '@langchain/openai'
import { createParser } from 'eventsource-parser'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import OpenAI from 'openai'
import { Stream } from 'openai/streaming'

/** eventsource-parser as its README shows it. */
export function espFraming(reads, emit) {
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent: emit })
  for (const read of reads) parser.feed(decoder.decode(read, { stream: true }))
}

export function espEndToEnd(reads) {
  let text = ''
  let finish
  const calls = []
  espFraming(reads, ({ data }) => {
    if (data === '[DONE]') return
    const choice = JSON.parse(data).choices[0]
    if (choice.delta.content) text += choice.delta.content
    for (const piece of choice.delta.tool_calls ?? []) {
      const call = (calls[piece.index] ??= { id: piece.id, name: piece.function.name, arguments: '' })
      call.arguments += piece.function.arguments
    }
    if (choice.finish_reason) finish = choice.finish_reason
  })
  return { text, finish, calls }
}

export async function espStream(stream, take) {
  const events = stream.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const event of events) take(event)
}

export async function openaiStream(stream, take) {
  const controller = new AbortController()
  for await (const chunk of Stream.fromSSEResponse(new Response(stream), controller)) take(chunk)
}

const headers = { 'content-type': 'text/event-stream' }
const messages = [{ role: 'user', content: 'hi' }]

export async function openaiHelper(stream) {
  const client = new OpenAI({
    apiKey: 'none',
    baseURL: 'http://127.0.0.1:1/v1',
    fetch: async () => new Response(stream, { headers }),
  })
  const final = await client.chat.completions.stream({ model: 'sample-model', messages }).finalChatCompletion()
  const { message, finish_reason: finish } = final.choices[0]
  return { text: message.content ?? '', finish, calls: callsOf(message.tool_calls) }
}

function callsOf(calls) {
  return (calls ?? []).map((call) => ({ id: call.id, name: call.function.name, arguments: call.function.arguments }))
}

function aiModel(stream) {
  return createOpenAICompatible({
    name: 'bench',
    baseURL: 'http://127.0.0.1:1/v1',
    fetch: async () => new Response(stream, { headers }),
  }).chatModel('sample-model')
}

export async function aiDoStream(stream) {
  const { stream: parts } = await aiModel(stream).doStream({
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  })
  let text = ''
  let finish
  const calls = []
  for await (const part of parts) {
    if (part.type === 'text-delta') text += part.delta
    else if (part.type === 'tool-call') calls.push({ id: part.toolCallId, name: part.toolName, arguments: part.input })
    else if (part.type === 'finish') finish = part.finishReason.raw ?? part.finishReason
  }
  return { text, finish: typeof finish === 'string' ? finish.replace('-', '_') : finish, calls }
}

export async function aiStreamText(stream, withTools = false) {
  const anything = tool({ inputSchema: jsonSchema({ type: 'object' }) })
  const tools = withTools ? Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`tool_${i}`, anything])) : undefined
  const result = streamText({ model: aiModel(stream), prompt: 'hi', ...(tools && { tools }) })
  let text = ''
  const calls = []
  let finish
  for await (const part of result.fullStream) {
    if (part.type === 'text-delta') text += part.text
    else if (part.type === 'tool-call')
      calls.push({ id: part.toolCallId, name: part.toolName, arguments: JSON.stringify(part.input) })
    else if (part.type === 'finish') finish = part.finishReason
  }
  return { text, finish: finish.replace('-', '_'), calls }
}

export async function langchain(stream) {
  const model = new ChatOpenAI({
    model: 'sample-model',
    apiKey: 'none',
    maxRetries: 0,
    configuration: { baseURL: 'http://127.0.0.1:1/v1', fetch: async () => new Response(stream, { headers }) },
  })
  let final
  for await (const chunk of await model.stream('hi')) final = final === undefined ? chunk : final.concat(chunk)
  const calls = (final.tool_calls ?? []).map((call) => ({
    id: call.id,
    name: call.name,
    arguments: JSON.stringify(call.args),
  }))
  return {
    text: typeof final.content === 'string' ? final.content : '',
    finish: final.response_metadata.finish_reason,
    calls,
  }
}
