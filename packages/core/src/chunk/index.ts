export type { Api } from './api.ts'
export { ARGUMENT_REPAIRS } from './argument-repair.ts'
export type { ArgumentRepair } from './argument-repair.ts'
export type { CallConflict, StreamChunk, ToolCallDelta } from './chunk.ts'
export type { BlockStatus, ContentBlock, ContentBlockType, TextBlock, ToolCallBlock } from './content-block.ts'
export { DIAGNOSTIC_CODES } from './diagnostic.ts'
export type { Diagnostic, DiagnosticCode, Severity } from './diagnostic.ts'
export { FAULT_CODES } from './fault.ts'
export type { FaultCode, Phase, ProviderError, Retryable, StreamFault } from './fault.ts'
export { FINISH_REASONS, permitsToolCalls } from './finish-reason.ts'
export type { FinishReason } from './finish-reason.ts'
export { DEFAULT_LIMITS } from './limits.ts'
export type { StreamLimits } from './limits.ts'
export { OUTCOMES_WORST_FIRST } from './outcome.ts'
export type { Outcome } from './outcome.ts'
export type { RequestFacts } from './request-facts.ts'
export { StreamError } from './stream-error.ts'
export type {
  AttemptFailedEvent,
  FinishSummary,
  ReadyToolCall,
  StreamErrorEvent,
  StreamEvent,
  ToolCallEvent,
} from './stream-event.ts'
export type { TokenUsage } from './usage.ts'
