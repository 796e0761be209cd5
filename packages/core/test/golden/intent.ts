import type { ChatProfile } from '../../src/adapters/index.ts'
import type {
  DiagnosticCode,
  FaultCode,
  FinishReason,
  Outcome,
  RequestFacts,
  Retryable,
  StreamLimits,
} from '../../src/chunk/index.ts'
import type { Policy, Streaming } from '../../src/engine/index.ts'
import type { CallState } from '../../src/tool-call/index.ts'
import { argumentText } from './intents/argument-text.ts'
import { badFields } from './intents/bad-fields.ts'
import { bursts } from './intents/bursts.ts'
import { callFields } from './intents/call-fields.ts'
import { dialects } from './intents/dialects.ts'
import { ends } from './intents/ends.ts'
import { errors } from './intents/errors.ts'
import { finish } from './intents/finish.ts'
import { interleavedCalls } from './intents/interleaved-calls.ts'
import { readBoundaries } from './intents/read-boundaries.ts'
import { splitCharacters } from './intents/split-characters.ts'
import { splitLines } from './intents/split-lines.ts'

/**
 * What a sample must come to, decided by hand from the contract before any engine has read it. The expected reports in
 * `corpus/` are generated, so they can only say that nothing changed; this says that it was right.
 */
export interface Intent {
  /** What the sample shows, in one sentence. */
  readonly about: string
  /** Numbers of the faults seen in public that it stands for, the same that comments in the sources name. */
  readonly faults: readonly string[]
  readonly request?: RequestFacts
  readonly options?: SampleOptions
  readonly outcome: Outcome
  /** Absent: the stream ends without an error. */
  readonly error?: ErrorIntent
  /** Every choice of the report, in order. */
  readonly choices: readonly ChoiceIntent[]
  /** Input and output tokens; absent: none are known. */
  readonly usage?: readonly [number, number]
  /** Findings that must be there. A warning or an error that is not listed must not be. */
  readonly found?: readonly DiagnosticCode[]
  /** Findings of severity `info` that must not be there. */
  readonly absent?: readonly DiagnosticCode[]
  /** Provider fields of the whole response that its snapshot must have kept. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** How the output arrived; only recordings have times. */
  readonly streaming?: Streaming
}

export interface SampleOptions {
  readonly policy?: Policy
  readonly batch?: 'all' | 'each'
  readonly profile?: ChatProfile
  readonly limits?: Partial<StreamLimits>
}

export interface ErrorIntent {
  readonly code: FaultCode
  readonly retryable: Retryable
  /** Absent: not stated by the contract, and not checked. */
  readonly status?: number
  readonly retryAfterMs?: number
}

export interface ChoiceIntent {
  /** Text, reasoning and refusal are empty and calls are none where absent. */
  readonly text?: string
  readonly reasoning?: string
  readonly refusal?: string
  readonly calls?: readonly CallIntent[]
  readonly finish: readonly [reason: FinishReason | null, raw: string | null]
  /** Provider fields of the choice that its snapshot must have kept. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** `undefined` arguments are not stated by the contract (those of a fragment that broke its call) and not checked. */
export type CallIntent = readonly [
  name: string | null,
  argumentsText: string | undefined,
  state: CallState,
  code: FaultCode | null,
]

export type ClassIntents = Readonly<Record<string, Intent>>

/** The folders of `corpus/chat-completions/`, in order: class n is number n of this list. The first ten must all be there. */
export const CLASSES: readonly { readonly folder: string; readonly intents: ClassIntents }[] = [
  { folder: 'split-lines', intents: splitLines },
  { folder: 'read-boundaries', intents: readBoundaries },
  { folder: 'split-characters', intents: splitCharacters },
  { folder: 'call-fields', intents: callFields },
  { folder: 'interleaved-calls', intents: interleavedCalls },
  { folder: 'argument-text', intents: argumentText },
  { folder: 'finish', intents: finish },
  { folder: 'ends', intents: ends },
  { folder: 'bursts', intents: bursts },
  { folder: 'bad-fields', intents: badFields },
  { folder: 'errors', intents: errors },
  { folder: 'dialects', intents: dialects },
]
