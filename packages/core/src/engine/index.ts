export { createStreamEngine } from './engine.ts'
export type { EndCause, StreamEngine, StreamEngineOptions } from './stream-engine.ts'
export { DEFAULT_TIMEOUTS, REASONING_TIMEOUTS } from './deadlines.ts'
export type { Deadline, TimeoutCode, Timeouts } from './deadlines.ts'
export { diagnose } from './diagnose.ts'
export type { DiagnosisEvidence, ExecutionEvidence } from './diagnose.ts'
export { FINDINGS } from './diagnostics.ts'
export { HINTS } from './hint.ts'
export type { Hint, HintCode } from './hint.ts'
export { fnv1a32, logLineOf } from './log-line.ts'
export type { LogLine, LogLineCall, LogLineOptions } from './log-line.ts'
export type { Policy } from './outcome.ts'
export { REPORT_SCHEMA } from './report.ts'
export type {
  ChoicePhase,
  ReportAttempt,
  ReportChoice,
  ReportCounts,
  ReportError,
  ReportSource,
  ReportTiming,
  ReportToolCall,
  StreamReport,
} from './report.ts'
export type { ResponseHead } from './response-head.ts'
export type { Streaming } from './arrival.ts'
export type { Rung, RungState, Verdict } from './verdict.ts'
