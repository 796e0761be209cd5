/**
 * Chat Completions chunks as servers send them. Every field is `unknown` or optional: `null`, an empty string and absence all
 * mean "nothing new", and a field of the wrong type must not lose the rest of the chunk.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming/streaming (read 2026-11-30)
 */
export interface WireChunk {
  readonly id?: unknown
  readonly object?: unknown
  readonly created?: unknown
  readonly model?: unknown
  readonly choices?: unknown
  readonly usage?: unknown
  readonly error?: unknown
  /** Groq: usage and errors of its own. */
  readonly x_groq?: unknown
  /** Random padding; carries nothing. */
  readonly obfuscation?: unknown
}

export interface WireChoice {
  readonly index?: unknown
  readonly delta?: unknown
  /** A whole message: a completion that was not streamed. Beside a `delta` it is cumulative and ignored (fault F026). */
  readonly message?: unknown
  readonly finish_reason?: unknown
  readonly error?: unknown
  readonly logprobs?: unknown
  readonly usage?: unknown
}

export interface WireDelta {
  readonly role?: unknown
  readonly content?: unknown
  readonly refusal?: unknown
  readonly reasoning?: unknown
  readonly reasoning_content?: unknown
  readonly reasoning_text?: unknown
  readonly reasoning_details?: unknown
  readonly tool_calls?: unknown
  readonly function_call?: unknown
}

/** Keys that are read, so that what is left is the provider's own and is kept as metadata. */
export const CHUNK_KEYS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'error',
  'obfuscation',
  'p',
])
export const CHOICE_KEYS: ReadonlySet<string> = new Set([
  'index',
  'delta',
  'message',
  'finish_reason',
  'logprobs',
  'usage',
])
export const DELTA_KEYS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_text',
  'tool_calls',
  'function_call',
])
export const CALL_KEYS: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function', 'custom'])

export { identity, isRecord } from '../wire-value.ts'
