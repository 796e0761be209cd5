import type { JsonObject, JsonValue } from 'streamfold'
import type { Decision } from '../authorize/decision.ts'
import type { Resource } from '../authorize/resource.ts'
import type { Principal } from '../authorize/principal.ts'
import type { JsonSchema } from './json-schema.ts'
import type { SchemaFinding } from '../validate/lint-schema.ts'
import type { ArgumentsValidator } from '../validate/validator.ts'

/**
 * What a second run would do, as the developer declares it; it decides what happens when an outcome is lost.
 * - `read`: nothing; it is simply run again.
 * - `idempotent`: the other side knows the idempotency key and does the thing once; it is run again with the same key.
 * - `queryable`: it can be asked afterwards whether the thing was done ({@link Tool.query}).
 * - `unsafe`: it does it again. Never run a second time.
 */
export type Effect = 'read' | 'idempotent' | 'queryable' | 'unsafe'

/** All effects, mildest first. */
export const EFFECTS: readonly Effect[] = ['read', 'idempotent', 'queryable', 'unsafe']

/** Where a call stands, and for whom it is made. Nothing in it comes from the model, except `callId`. */
export interface CallContext {
  /** From authentication. */
  readonly tenant: string
  /** The kind of job this run does; allow-lists may differ between workflows. */
  readonly workflow?: string
  readonly runId: string
  /** Request of the run that the call answers, from 1; allocated before the request was sent. */
  readonly turn: number
  /** Attempt of that request, from 1. */
  readonly attempt: number
  readonly choice: number
  readonly principal?: Principal
  /** Ids that earlier calls of the same choice have. A call with one of them is refused. */
  readonly usedCallIds?: ReadonlySet<string>
  readonly signal?: AbortSignal
}

/** What a tool's own functions learn about the call. */
export interface ToolContext {
  readonly tenant: string
  readonly workflow?: string
  readonly runId: string
  readonly turn: number
  readonly callId: string
  readonly principal?: Principal
  /** 64 hexadecimal digits, the same in every run of the same operation; fit for an `Idempotency-Key` header. */
  readonly idempotencyKey: string
  /** Grows with every claim of the operation; for resources that refuse a stale holder. */
  readonly fence: number
  /** Aborts when the run is cancelled, the tool's time is up or the lease was lost. */
  readonly signal: AbortSignal
}

/** What a look afterwards found out about an operation whose outcome was lost. */
export type QueryAnswer =
  | { readonly state: 'succeeded'; readonly result: JsonValue }
  | { readonly state: 'failed'; readonly message: string }
  /** `final`: it is certain that it was not done and will not be; only then is it run again. */
  | { readonly state: 'not_found'; readonly final: boolean }
  | { readonly state: 'pending' }

/** Asked of a tool's own functions before the call is released: there is no idempotency key yet. */
export type GateContext = Omit<ToolContext, 'idempotencyKey' | 'fence' | 'signal'>

/**
 * A defined tool: what {@link defineTool} gives. `args` of its functions is the output of the schema, typed; `input` is the
 * JSON the model sent, as strictly parsed, and is what was hashed, shown and stored.
 */
export interface Tool<Args = unknown, Result = unknown> {
  readonly name: string
  readonly description: string
  readonly effect: Effect
  /** JSON Schema of the input, as given or as derived from a Standard Schema; a copy of its own, deeply frozen. */
  readonly inputSchema: JsonSchema
  /** The strict form of `inputSchema`, for a tool that was defined `strict`: what the model is shown in its place. */
  readonly strictSchema?: JsonSchema
  /** sha-256 of the canonical `inputSchema`, hexadecimal. */
  readonly schemaHash: string
  /** What providers or validators may read differently in the schema. */
  readonly schemaFindings: readonly SchemaFinding[]
  readonly validator: ArgumentsValidator
  /** Time one execution may take, in milliseconds. Independent of any lease. */
  readonly timeoutMs?: number
  /** Greatest size of the arguments, in UTF-8 bytes. */
  readonly maxArgumentBytes?: number
  /** Whether a person has to agree: see `approve` of {@link ToolDefinition}. */
  readonly approve?: ApprovalRule<Args>
  /** The business operation this call is about. Same value, same operation, whichever turn or run asks for it. */
  operationId?(args: Args, context: GateContext): JsonValue
  /** What the call will touch. Checked against its boundaries before the policy, and again right before the execution. */
  resources?(args: Args, context: GateContext): readonly Resource[] | Promise<readonly Resource[]>
  /** The tool's own say; combined with the policy as deny > ask > allow. */
  authorize?(args: Args, context: GateContext): Decision | Promise<Decision>
  /** What a person or an audit may see of the input. Without it the whole input is shown. */
  redact?(input: JsonObject): JsonValue
  execute(args: Args, context: ToolContext): Promise<Result> | Result
  /** For `queryable` tools: was the operation with this key done? */
  query?(key: string, context: ToolContext): Promise<QueryAnswer> | QueryAnswer
}

/**
 * - `always`: every call needs a person's yes.
 * - `never`: the tool itself asks for none; a policy still may.
 * - a function: decides per call.
 */
export type ApprovalRule<Args> = 'always' | 'never' | ApprovalFunctions<Args>['needsApproval']

interface ApprovalFunctions<Args> {
  // Written as a method: a tool whose arguments are narrower is still a `Tool`.
  needsApproval(args: Args, context: GateContext): boolean | Promise<boolean>
}
