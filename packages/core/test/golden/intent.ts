import type { Api, ProviderProfile } from '../../src/adapters/index.ts'
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
import { anthropicMessages } from './intents/anthropic-messages.ts'
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
import { bedrockConverse } from './intents/bedrock-converse.ts'
import { cohere } from './intents/cohere.ts'
import { completions } from './intents/completions.ts'
import { gemini } from './intents/gemini.ts'
import { ollama } from './intents/ollama.ts'
import { responses } from './intents/responses.ts'

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
  readonly profile?: ProviderProfile
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

/** A folder of `corpus/` with samples of one wire format. */
export interface SampleClass {
  readonly folder: string
  readonly api: Api
  readonly intents: ClassIntents
}

/** The folders of `corpus/`, in order: class n is number n of this list. The first ten must all be there. */
export const CLASSES: readonly SampleClass[] = [
  { folder: 'chat-completions/split-lines', api: 'chat_completions', intents: splitLines },
  { folder: 'chat-completions/read-boundaries', api: 'chat_completions', intents: readBoundaries },
  { folder: 'chat-completions/split-characters', api: 'chat_completions', intents: splitCharacters },
  { folder: 'chat-completions/call-fields', api: 'chat_completions', intents: callFields },
  { folder: 'chat-completions/interleaved-calls', api: 'chat_completions', intents: interleavedCalls },
  { folder: 'chat-completions/argument-text', api: 'chat_completions', intents: argumentText },
  { folder: 'chat-completions/finish', api: 'chat_completions', intents: finish },
  { folder: 'chat-completions/ends', api: 'chat_completions', intents: ends },
  { folder: 'chat-completions/bursts', api: 'chat_completions', intents: bursts },
  { folder: 'chat-completions/bad-fields', api: 'chat_completions', intents: badFields },
  { folder: 'chat-completions/errors', api: 'chat_completions', intents: errors },
  { folder: 'chat-completions/dialects', api: 'chat_completions', intents: dialects },
  { folder: 'responses', api: 'responses', intents: responses },
  { folder: 'anthropic-messages', api: 'anthropic_messages', intents: anthropicMessages },
  { folder: 'gemini', api: 'gemini', intents: gemini },
  { folder: 'ollama', api: 'ollama', intents: ollama },
  { folder: 'cohere', api: 'cohere', intents: cohere },
  { folder: 'bedrock-converse', api: 'bedrock_converse', intents: bedrockConverse },
  { folder: 'completions', api: 'completions', intents: completions },
]
