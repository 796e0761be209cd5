export { allowedUrl, createGate, guardedLookup, isPublicAddress, pathInside, ResourceError } from './authorize/index.ts'
export type {
  Actor,
  AllowedUrl,
  Decision,
  GateOptions,
  IdResource,
  LookupFunction,
  PathResource,
  Policy,
  PolicyHook,
  PolicyRequest,
  PolicyRule,
  Principal,
  ResolveAddresses,
  Resource,
  UrlBoundary,
  UrlResource,
} from './authorize/index.ts'
export { apiModel, resumeConversation, runConversation } from './conversation/index.ts'
export type {
  ApiModelOptions,
  AssistantMessage,
  Budget,
  ConversationEvent,
  ConversationExecutor,
  ConversationModel,
  ConversationOptions,
  ConversationResult,
  InstructionMessage,
  Message,
  ModelAnswer,
  ModelRequest,
  RequestedCall,
  Spent,
  StopReason,
  ToolMessage,
} from './conversation/index.ts'
export { defineTool, EFFECTS, toolDeclarations } from './define/index.ts'
export type {
  ApprovalRule,
  ArgumentsOf,
  CallContext,
  Effect,
  FromJsonSchema,
  GateContext,
  JsonSchema,
  QueryAnswer,
  StandardIssue,
  StandardResult,
  StandardSchema,
  Tool,
  ToolApi,
  ToolContext,
  ToolDefinition,
  ToolParameters,
} from './define/index.ts'
export { AbortedTool, createExecutor, createGatedExecutor, NoEffectError } from './executor/index.ts'
export type {
  AbortCause,
  BatchPlace,
  BatchResult,
  CreateExecutorOptions,
  Executor,
  ExecutorOptions,
  RecoveryReport,
  ToolBatch,
  ToolExecutor,
  ToolResult,
} from './executor/index.ts'
export { idempotencyKey, LedgerError, openLedger, operationKey, SHORTEST_RETENTION_MS } from './ledger/index.ts'
export type {
  Approval,
  ApprovalDecision,
  Attempt,
  AuditLine,
  BatchState,
  CallRecord,
  CancelAnswer,
  CancelledCall,
  Execution,
  ExecutionDetails,
  ExecutionState,
  Ledger,
  LedgerCallState,
  LedgerErrorCode,
  ListOptions,
  RefusedCall,
  RefusedOptions,
  RefusedState,
  RunRecord,
  Settlement,
  TurnRecord,
} from './ledger/index.ts'
export { libsql, migrate, nodeSqlite, openStore, StoreError } from './store/index.ts'
export type {
  Dialect,
  Migration,
  Queries,
  SqliteEngine,
  SqliteFile,
  SqlValue,
  Store,
  StoreErrorCode,
  StoreOptions,
} from './store/index.ts'
export type {
  ApprovalNeed,
  Gate,
  GateCheck,
  GateEvidence,
  GatePass,
  GateRefusal,
  GateVerdict,
  StoredCall,
} from './gate.ts'
export { jsonSchemaValidator, lintSchema, SchemaError } from './validate/index.ts'
export type {
  ArgumentsValidator,
  JsonSchemaValidatorOptions,
  SchemaFinding,
  SchemaIssue,
  ValidationResult,
} from './validate/index.ts'
export { reportWithResults } from './verdict/index.ts'
export type { ChoiceResults } from './verdict/index.ts'
