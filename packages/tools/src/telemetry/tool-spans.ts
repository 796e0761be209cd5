import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Span } from '@opentelemetry/api'
import type { Tool, ToolContext } from '../define/tool.ts'
import { nameOf } from '../thrown.ts'
import type { InferenceSpans } from './inference-spans.ts'
import type { Instruments } from './instruments.ts'

/**
 * The tool, with a span `execute_tool NAME` around every execution and its duration as a metric. Nothing else changes. Spans hold
 * ids and names; neither arguments nor results, nor the words of an error, which may repeat them.
 */
export function tracedTool(tool: Tool, instruments: Instruments, inferences: InferenceSpans): Tool {
  return Object.freeze({
    ...tool,
    execute: (args: unknown, toolContext: ToolContext) => traced(tool, args, toolContext, instruments, inferences),
  })
}

async function traced(
  tool: Tool,
  args: unknown,
  toolContext: ToolContext,
  instruments: Instruments,
  inferences: InferenceSpans,
): Promise<unknown> {
  const from = inferences.find(toolContext.runId, toolContext.turn)
  const span = instruments.tracer.startSpan(`execute_tool ${tool.name}`, {
    kind: SpanKind.INTERNAL,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool.name,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.description': tool.description,
      'gen_ai.tool.call.id': toolContext.callId,
      'gen_ai.conversation.id': toolContext.runId,
      'streamfold.tool.effect': tool.effect,
      'streamfold.turn': toolContext.turn,
      'streamfold.fence': toolContext.fence,
    },
    ...(from === undefined ? {} : { links: [{ context: from }] }),
  })
  const began = instruments.now()
  let failure: string | undefined
  try {
    return await context.with(trace.setSpan(context.active(), span), () => tool.execute(args, toolContext))
  } catch (error) {
    failure = fail(span, error)
    throw error
  } finally {
    span.end()
    instruments.toolDuration((instruments.now() - began) / 1000, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool.name,
      ...(failure === undefined ? {} : { 'error.type': failure }),
    })
  }
}

function fail(span: Span, error: unknown): string {
  const type = nameOf(error)
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
  return type
}
