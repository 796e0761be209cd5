import { streamModel } from 'streamfold'
import type { ModelStream, StreamModelOptions } from 'streamfold'

const event = (choice: object): string =>
  `data: ${JSON.stringify({ id: 'r', model: 'm', choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`

export const WIRE = {
  text: (content: string): string => event({ delta: { content } }),
  call: (name: string, args: string): string =>
    event({ delta: { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name, arguments: args } }] } }),
  finish: (reason: string): string => event({ delta: {}, finish_reason: reason }),
  done: 'data: [DONE]\n\n',
} as const

export const HELLO: string = WIRE.text('hel') + WIRE.text('lo') + WIRE.finish('stop') + WIRE.done

export function ask(baseURL: string, options: Partial<StreamModelOptions> = {}): ModelStream {
  return streamModel({
    api: 'chat_completions',
    baseURL,
    body: { model: 'm' },
    throwOnError: false,
    retry: false,
    ...options,
  })
}
