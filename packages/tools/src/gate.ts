import type { FaultCode, JsonObject, JsonValue, Phase, ReadyToolCall } from 'streamfold'
import type { CallContext, Tool } from './define/tool.ts'

/**
 * Everything that stands between a released call and its execution, except the ledger. Never throws and never rejects: what
 * goes wrong in a check is a refusal.
 */
export interface Gate {
  /** All checks in order, for a call that a `tool_batch_ready` event brought. */
  check(call: ReadyToolCall, context: CallContext): Promise<GateVerdict>
  /**
   * The checks that can come out differently at the moment of execution, over the stored input: allow-list, schema, resources,
   * policy. A `pass` still names the approval that the call needs; whether it was given is the ledger's to know.
   */
  recheck(stored: StoredCall, context: CallContext): Promise<GateVerdict>
}

/** A call as it was persisted. */
export interface StoredCall {
  readonly callId: string
  readonly name: string
  /** {@link GatePass.inputJson} */
  readonly inputJson: string
}

export type GateVerdict = GatePass | GateRefusal

export interface GatePass {
  readonly kind: 'pass'
  readonly tool: Tool
  /** Output of the validator: for the tool's functions, not for storage. */
  readonly args: unknown
  /** What the model sent, strictly parsed: hashed, shown and stored. */
  readonly input: JsonObject
  /** Canonical JSON (RFC 8785) of `input`. */
  readonly inputJson: string
  /** sha-256 of `inputJson`, 64 hexadecimal digits. */
  readonly argumentsHash: string
  /** Canonical JSON of what the tool's `operationId` gave; absent when it has none. */
  readonly operationId?: string
  /** Present when a person has to agree before the call may be released. */
  readonly approval?: ApprovalNeed
  /** Revision of the policy that decided. */
  readonly policyRevision?: string
  readonly evidence: readonly GateEvidence[]
}

/** What a person is asked. A decision counts only for this call id and these exact arguments, and only until it expires. */
export interface ApprovalNeed {
  readonly callId: string
  readonly tool: string
  readonly argumentsHash: string
  /** Why it is asked for. */
  readonly reason: string
  /** What may be shown of the input. */
  readonly shown: JsonValue
  /** Time to answer, in milliseconds from the moment the request is stored. No answer until then is a no. */
  readonly expiresInMs: number
}

export interface GateRefusal {
  readonly kind: 'refuse'
  readonly code: FaultCode
  readonly phase: Phase
  /** For the model: what was wrong and what would be right. At most a few lines, no secrets of the policy. */
  readonly message: string
  readonly evidence: readonly GateEvidence[]
}

/** One check's outcome, for audit and report; holds no argument values. */
export interface GateEvidence {
  readonly check: GateCheck
  readonly outcome: 'pass' | 'fail' | 'ask' | 'not_applicable'
  /** One sentence. For people who run the system; not for the model. */
  readonly detail?: string
  /** The rule or hook in shadow mode would have decided this. */
  readonly shadow?: 'allow' | 'ask' | 'deny'
}

/** The checks, in the order in which they are made. */
export type GateCheck =
  | 'allow_list'
  | 'call_id'
  | 'size'
  | 'strict_json'
  | 'schema'
  | 'resources'
  | 'permission'
  | 'approval'
