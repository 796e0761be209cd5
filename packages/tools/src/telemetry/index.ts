/** OpenTelemetry for tools and conversations. Needs `@opentelemetry/api`; without an SDK behind it nothing is recorded. */
import { metrics, trace } from '@opentelemetry/api'
import type { Meter, Tracer } from '@opentelemetry/api'
import type { ConversationModel } from '../conversation/model.ts'
import type { Tool } from '../define/tool.ts'
import type { ToolExecutor } from '../executor/create-executor.ts'
import type { CallLine } from './call-line.ts'
import { createInferenceSpans } from './inference-spans.ts'
import { createInstruments } from './instruments.ts'
import { tracedModel } from './model-spans.ts'
import type { ModelIdentity } from './model-spans.ts'
import type { Semconv } from './names.ts'
import { observedExecutor } from './observed-executor.ts'
import { tracedTool } from './tool-spans.ts'

export type { CallLine } from './call-line.ts'
export type { ModelIdentity } from './model-spans.ts'
export type { Semconv } from './names.ts'

export interface TelemetryOptions {
  /** Default: the global provider's. */
  readonly tracer?: Tracer
  readonly meter?: Meter
  /** Whose names to use. Default `1.41`. */
  readonly semconv?: Semconv
  /** One line per call, with hashes and lengths in the place of content. */
  readonly onCall?: (line: CallLine) => void
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number
}

export interface Telemetry {
  /** Before `createExecutor`: a span and a duration for every execution. */
  tools(tools: readonly Tool[]): readonly Tool[]
  /** After it: counts how calls end, and tells `onCall`. */
  executor(executor: ToolExecutor): ToolExecutor
  /** For `runConversation`: a span, durations and tokens for every request. Tools that it leads to link to it. */
  model(model: ConversationModel, identity: ModelIdentity): ConversationModel
}

/** Spans and metrics by the names of the GenAI conventions. Labels hold names and codes, never ids or content. */
export function createTelemetry(options: TelemetryOptions = {}): Telemetry {
  const instruments = createInstruments(
    options.tracer ?? trace.getTracer('@streamfold/tools'),
    options.meter ?? metrics.getMeter('@streamfold/tools'),
    options.semconv ?? '1.41',
    options.now ?? (() => performance.now()),
  )
  const inferences = createInferenceSpans()
  return {
    tools: (tools) => tools.map((tool) => tracedTool(tool, instruments, inferences)),
    executor: (executor) => observedExecutor(executor, instruments, options.onCall),
    model: (model, identity) => tracedModel(model, identity, instruments, inferences),
  }
}
