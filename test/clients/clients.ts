import Anthropic from '@anthropic-ai/sdk'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { jsonSchema, streamText, tool } from 'ai'
import OpenAI from 'openai'
import type { EncodableApi } from 'streamfold/server'

/** What a client reports as the answer. */
export interface Answer {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[]
  readonly finish: string | null | undefined
}

export interface Client {
  readonly name: string
  readonly api: EncodableApi
  /** Reads one answer to its end; throws what the client throws. */
  readonly ask: (baseURL: string, send: typeof fetch) => Promise<Answer>
}

const PROMPT = 'hello'
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
const WEATHER = { name: 'get_weather', description: 'Weather of a city', parameters: PARAMETERS }
const TOOLS = { get_weather: tool({ description: WEATHER.description, inputSchema: jsonSchema(PARAMETERS) }) }

const openai = (baseURL: string, send: typeof fetch): OpenAI =>
  new OpenAI({ apiKey: 'k', baseURL: `${baseURL}/v1`, fetch: send, maxRetries: 0 })
const anthropic = (baseURL: string, send: typeof fetch): Anthropic =>
  new Anthropic({ apiKey: 'k', baseURL, fetch: send, maxRetries: 0 })

async function ofAiSdk(model: Parameters<typeof streamText>[0]['model']): Promise<Answer> {
  // The errors are thrown below.
  const { fullStream } = streamText({ model, prompt: PROMPT, tools: TOOLS, maxRetries: 0, onError: () => {} })
  let text = ''
  let finish: string | undefined
  const calls: { name: string; arguments: unknown }[] = []
  for await (const part of fullStream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'text-delta') text += part.text
    if (part.type === 'tool-call') calls.push({ name: part.toolName, arguments: part.input })
    if (part.type === 'finish') finish = part.finishReason
  }
  return { text, calls, finish }
}

export const CLIENTS: readonly Client[] = [
  {
    name: 'openai, chat.completions.create',
    api: 'chat_completions',
    async ask(baseURL, send) {
      const stream = await openai(baseURL, send).chat.completions.create({
        model: 'm',
        messages: [{ role: 'user', content: PROMPT }],
        tools: [{ type: 'function', function: WEATHER }],
        stream: true,
      })
      let text = ''
      let finish: string | null = null
      const calls: { name: string; json: string }[] = []
      for await (const { choices } of stream) {
        const choice = choices[0]
        if (choice === undefined) continue
        text += choice.delta.content ?? ''
        finish = choice.finish_reason ?? finish
        for (const { index, function: part } of choice.delta.tool_calls ?? []) {
          const call = (calls[index] ??= { name: '', json: '' })
          call.name += part?.name ?? ''
          call.json += part?.arguments ?? ''
        }
      }
      return { text, calls: calls.map(({ name, json }) => ({ name, arguments: JSON.parse(json) as unknown })), finish }
    },
  },
  {
    name: 'openai, chat.completions.stream',
    api: 'chat_completions',
    async ask(baseURL, send) {
      const completion = await openai(baseURL, send)
        .chat.completions.stream({
          model: 'm',
          messages: [{ role: 'user', content: PROMPT }],
          tools: [{ type: 'function', function: WEATHER }],
        })
        .finalChatCompletion()
      const { message, finish_reason: finish } = completion.choices[0]!
      const calls = (message.tool_calls ?? []).flatMap((call) =>
        call.type === 'function'
          ? [{ name: call.function.name, arguments: JSON.parse(call.function.arguments) as unknown }]
          : [],
      )
      return { text: message.content ?? '', calls, finish }
    },
  },
  {
    name: 'openai, responses.create',
    api: 'responses',
    async ask(baseURL, send) {
      const stream = await openai(baseURL, send).responses.create({
        model: 'm',
        input: PROMPT,
        tools: [{ type: 'function', strict: false, ...WEATHER }],
        stream: true,
      })
      let text = ''
      let finish: string | undefined
      const calls: { name: string; arguments: unknown }[] = []
      for await (const event of stream) {
        if (event.type === 'response.output_text.delta') text += event.delta
        if (event.type === 'response.output_item.done' && event.item.type === 'function_call') {
          calls.push({ name: event.item.name, arguments: JSON.parse(event.item.arguments) as unknown })
        }
        if (event.type === 'response.completed') finish = event.response.status
      }
      return { text, calls, finish }
    },
  },
  {
    name: 'openai, responses.stream',
    api: 'responses',
    async ask(baseURL, send) {
      const response = await openai(baseURL, send)
        .responses.stream({ model: 'm', input: PROMPT, tools: [{ type: 'function', strict: false, ...WEATHER }] })
        .finalResponse()
      const calls = response.output.flatMap((item) =>
        item.type === 'function_call' ? [{ name: item.name, arguments: JSON.parse(item.arguments) as unknown }] : [],
      )
      return { text: response.output_text, calls, finish: response.status }
    },
  },
  {
    name: '@anthropic-ai/sdk, messages.create',
    api: 'anthropic_messages',
    async ask(baseURL, send) {
      const stream = await anthropic(baseURL, send).messages.create({
        model: 'm',
        max_tokens: 100,
        messages: [{ role: 'user', content: PROMPT }],
        tools: [{ name: WEATHER.name, input_schema: { ...PARAMETERS, required: ['city'] } }],
        stream: true,
      })
      let text = ''
      let finish: string | null = null
      const calls: { name: string; json: string }[] = []
      for await (const event of stream) {
        if (event.type === 'content_block_start' && event.content_block.type === 'tool_use') {
          calls.push({ name: event.content_block.name, json: '' })
        }
        if (event.type === 'content_block_delta') {
          if (event.delta.type === 'text_delta') text += event.delta.text
          if (event.delta.type === 'input_json_delta') calls.at(-1)!.json += event.delta.partial_json
        }
        if (event.type === 'message_delta') finish = event.delta.stop_reason
      }
      return { text, calls: calls.map(({ name, json }) => ({ name, arguments: JSON.parse(json) as unknown })), finish }
    },
  },
  {
    name: '@anthropic-ai/sdk, messages.stream',
    api: 'anthropic_messages',
    async ask(baseURL, send) {
      const message = await anthropic(baseURL, send)
        .messages.stream({
          model: 'm',
          max_tokens: 100,
          messages: [{ role: 'user', content: PROMPT }],
          tools: [{ name: WEATHER.name, input_schema: { ...PARAMETERS, required: ['city'] } }],
        })
        .finalMessage()
      return {
        text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        calls: message.content.flatMap((block) =>
          block.type === 'tool_use' ? [{ name: block.name, arguments: block.input }] : [],
        ),
        finish: message.stop_reason,
      }
    },
  },
  {
    name: 'ai, openai-compatible',
    api: 'chat_completions',
    ask: (baseURL, send) =>
      ofAiSdk(createOpenAICompatible({ name: 'fake', baseURL: `${baseURL}/v1`, fetch: send })('m')),
  },
  {
    name: 'ai, openai responses',
    api: 'responses',
    ask: (baseURL, send) =>
      ofAiSdk(createOpenAI({ apiKey: 'k', baseURL: `${baseURL}/v1`, fetch: send }).responses('m')),
  },
  {
    name: '@langchain/openai, stream',
    api: 'chat_completions',
    async ask(baseURL, send) {
      const model = new ChatOpenAI({
        model: 'm',
        apiKey: 'k',
        maxRetries: 0,
        useResponsesApi: false,
        configuration: { baseURL: `${baseURL}/v1`, fetch: send },
      }).bindTools([{ type: 'function', function: WEATHER }])
      const chunks = []
      for await (const chunk of await model.stream(PROMPT)) chunks.push(chunk)
      const whole = chunks.length === 0 ? undefined : chunks.reduce((before, chunk) => before.concat(chunk))
      const calls = (whole?.tool_calls ?? []).map(({ name, args }) => ({ name, arguments: args as unknown }))
      const finish = whole?.response_metadata['finish_reason'] as string | undefined
      return { text: typeof whole?.content === 'string' ? whole.content : '', calls, finish }
    },
  },
]
