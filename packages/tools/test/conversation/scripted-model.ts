import { chatCompletions, createStreamEngine } from 'streamfold'
import type { EndCause, StreamEvent } from 'streamfold'
import type { ConversationModel, ModelAnswer, ModelRequest } from '../../src/conversation/model.ts'

const encoder = new TextEncoder()

interface ScriptedCall {
  readonly id: string
  readonly name: string
  readonly args: string
}

const sse = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const delta = (fields: object, finish: string | null = null): string =>
  sse({ id: 'c', model: 'm', choices: [{ index: 0, delta: fields, finish_reason: finish }] })
const usage = (input: number, output: number): string =>
  sse({ id: 'c', choices: [], usage: { prompt_tokens: input, completion_tokens: output } })

/** Bodies of Chat Completions streams. */
export const body = {
  text: (text: string, finish = 'stop'): string => `${delta({ content: text }, finish)}${usage(10, 2)}data: [DONE]\n\n`,
  calls: (...calls: readonly ScriptedCall[]): string =>
    delta({
      tool_calls: calls.map(({ id, name, args }, index) => ({
        index,
        id,
        type: 'function',
        function: { name, arguments: args },
      })),
    }) + `${delta({}, 'tool_calls')}${usage(10, 5)}data: [DONE]\n\n`,
  /** Ends in the middle of its text. */
  cut: (text: string): string => delta({ content: text }),
  error: (code: string): string => `${delta({ content: 'be' })}${sse({ error: { code, message: 'upstream broke' } })}`,
  /** Whole calls, and nothing that says that they are all. */
  unfinished: (...calls: readonly ScriptedCall[]): string =>
    body.calls(...calls).replace(/data: [^\n]*"finish_reason":"tool_calls"[^\n]*\n\n/, ''),
}

export type Script = string | ((request: ModelRequest) => ModelAnswer)

/** What a stream with this body gives. */
export function answerOf(text: string, cause: EndCause = 'eof'): ModelAnswer {
  const engine = createStreamEngine({ adapter: chatCompletions() })
  return {
    async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent> {
      yield* engine.push(encoder.encode(text))
      yield* engine.end(cause)
    },
    report: () => engine.report(),
    snapshot: () => engine.snapshot(),
  }
}

/** Answers request after request as the scripts say, and keeps the requests. */
export function scriptedModel(...scripts: readonly Script[]): {
  readonly model: ConversationModel
  readonly requests: readonly ModelRequest[]
} {
  const requests: ModelRequest[] = []
  return {
    requests,
    model(request) {
      const script = scripts[requests.length]
      requests.push(request)
      if (script === undefined) throw new Error(`request ${requests.length} was not in the script`)
      return typeof script === 'string' ? answerOf(script) : script(request)
    },
  }
}
