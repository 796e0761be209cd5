/**
 * streamfold: model streams whose content is right and whose tool calls are safe to run.
 *
 * bytes → events (`streamfold/sse`) → chunks (`streamfold/adapters`) → what may be shown (`streamfold/accumulate`) and what
 * may be acted on (`streamfold/tool-call`); `streamfold/engine` holds them together without any I/O, `streamfold/client` reads
 * from the network.
 */
export { createStreamAccumulator } from './accumulate/index.ts'
export type { ChoiceSnapshot, ProviderMetadata, StreamAccumulator, StreamSnapshot } from './accumulate/index.ts'
export {
  adapterFor,
  anthropicMessages,
  APIS,
  bedrockConverse,
  chatCompletions,
  cohere,
  completions,
  detectApi,
  gemini,
  ollama,
  profileOf,
  PROFILES,
  readProfile,
  responses,
} from './adapters/index.ts'
export type { BuiltInProfile, DetectedApi, ProviderProfile, StreamAdapter } from './adapters/index.ts'
export * from './chunk/index.ts'
export {
  eventStreamTransform,
  guardFetch,
  guardFetchWith,
  mapEventStream,
  parseEventStream,
  streamModel,
  streamModelWith,
  streamResponse,
} from './client/index.ts'
export type {
  BatchedIterator,
  ByteSource,
  FailureRecorder,
  GuardOptions,
  GuardWithOptions,
  ModelResult,
  ModelStream,
  RecordedStream,
  ResponseStreamOptions,
  RetryOptions,
  StreamModelOptions,
  StreamModelWithOptions,
} from './client/index.ts'
export { createStreamEngine, DEFAULT_TIMEOUTS, logLineOf, REASONING_TIMEOUTS, REPORT_SCHEMA } from './engine/index.ts'
export type {
  EndCause,
  LogLine,
  LogLineCall,
  LogLineOptions,
  ReportChoice,
  ReportError,
  ReportToolCall,
  Policy,
  ResponseHead,
  StreamEngine,
  StreamEngineOptions,
  StreamReport,
  Timeouts,
  Verdict,
} from './engine/index.ts'
export type { JsonObject, JsonValue } from './json/index.ts'
export { createEventStreamParser } from './sse/index.ts'
export type { EventStreamParser, EventStreamParserOptions, ServerSentEvent } from './sse/index.ts'
export { CALL_STATES, ToolCallMachine } from './tool-call/index.ts'
export type { CallSnapshot, CallState } from './tool-call/index.ts'
