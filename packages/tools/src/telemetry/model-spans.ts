import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { Attributes, Span } from '@opentelemetry/api'
import type { StreamEvent, StreamReport } from 'streamfold'
import type { ConversationModel, ModelAnswer, ModelRequest } from '../conversation/model.ts'
import { nameOf } from '../thrown.ts'
import type { InferenceSpans } from './inference-spans.ts'
import type { Instruments } from './instruments.ts'

export interface ModelIdentity {
  /** As the conventions spell it: `openai`, `anthropic`, `gcp.gemini` … */
  readonly provider: string
  readonly model: string
  readonly serverAddress?: string
  readonly serverPort?: number
}

/** The model, with a span `chat MODEL` around every request, and its durations and tokens as metrics. */
export function tracedModel(
  model: ConversationModel,
  identity: ModelIdentity,
  instruments: Instruments,
  inferences: InferenceSpans,
): ConversationModel {
  return (request) => {
    const common = identityAttributes(identity)
    const span = instruments.tracer.startSpan(`chat ${identity.model}`, {
      kind: SpanKind.CLIENT,
      attributes: {
        ...common,
        'gen_ai.request.stream': true,
        'gen_ai.conversation.id': request.runId,
        'streamfold.turn': request.turn,
        'streamfold.attempt': request.attempt,
      },
    })
    inferences.remember(request.runId, request.turn, span.spanContext())
    const began = instruments.now()
    try {
      return watched(model(request), request, { span, common, began, instruments })
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR })
      span.setAttribute('error.type', nameOf(error))
      span.end()
      throw error
    }
  }
}

interface Watch {
  readonly span: Span
  readonly common: Attributes
  readonly began: number
  readonly instruments: Instruments
}

function watched(answer: ModelAnswer, request: ModelRequest, watch: Watch): ModelAnswer {
  return {
    async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent, void, undefined> {
      let first = true
      try {
        for await (const event of answer) {
          if (first) {
            first = false
            const seconds = (watch.instruments.now() - watch.began) / 1000
            watch.instruments.timeToFirstChunk(seconds, watch.common)
            watch.span.setAttribute('gen_ai.response.time_to_first_chunk', seconds)
          }
          yield event
        }
      } finally {
        finish(answer.report(), request, watch)
      }
    },
    report: () => answer.report(),
    ...(answer.snapshot === undefined ? {} : { snapshot: answer.snapshot.bind(answer) }),
  }
}

function finish(report: StreamReport, request: ModelRequest, { span, common, began, instruments }: Watch): void {
  const failure = failureOf(report, request)
  const reasons = report.choices.flatMap(({ finish: { raw } }) => raw ?? [])
  const { usage } = report
  span.setAttributes({
    ...(reasons.length === 0 ? {} : { 'gen_ai.response.finish_reasons': reasons }),
    ...(usage?.inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': usage.inputTokens }),
    ...(usage?.outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': usage.outputTokens }),
    ...(failure === undefined ? {} : { 'error.type': failure }),
    'streamfold.outcome': report.outcome ?? 'incomplete',
  })
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
  const attributes = failure === undefined ? common : { ...common, 'error.type': failure }
  instruments.inferenceDuration((instruments.now() - began) / 1000, attributes)
  if (usage?.inputTokens !== undefined) instruments.tokens('input', usage.inputTokens, common)
  if (usage?.outputTokens !== undefined) instruments.tokens('output', usage.outputTokens, common)
}

/** An HTTP failure by its status, any other by its code. A stream that did not end is an error too. */
function failureOf({ error, outcome }: StreamReport, { signal }: ModelRequest): string | undefined {
  if (error !== null) return error.status === undefined ? error.code : String(error.status)
  if (outcome !== null) return undefined
  return signal.aborted ? 'cancelled' : 'incomplete_stream'
}

function identityAttributes({ provider, model, serverAddress, serverPort }: ModelIdentity): Attributes {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    ...(serverAddress === undefined ? {} : { 'server.address': serverAddress }),
    ...(serverPort === undefined ? {} : { 'server.port': serverPort }),
  }
}
