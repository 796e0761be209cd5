import type { Api } from '../chunk/api.ts'
import type { ProviderProfile } from './profile.ts'

/** What is known of one server that speaks a wire format. */
export interface BuiltInProfile {
  readonly api: Api
  readonly profile: ProviderProfile
  /** Why the profile is what it is: seen in recorded streams, or documented. */
  readonly why: string
}

const strict = (api: Api, why: string): BuiltInProfile => ({ api, profile: {}, why })

/**
 * Servers by name. An empty profile is a statement too: nothing has to be relaxed, the dialect is read as it is. A relaxed end
 * never weakens what a call must prove: its arguments are checked all the same.
 */
export const PROFILES: Readonly<Record<string, BuiltInProfile>> = Object.freeze({
  openai: strict('chat_completions', 'the documentation is the default'),
  'openai-responses': strict('responses', 'the documentation is the default'),
  anthropic: strict('anthropic_messages', 'the documentation is the default'),
  gemini: strict('gemini', 'the documentation is the default'),
  'gemini-openai': strict('chat_completions', 'finishes with "stop" beside calls, which is promoted with a finding'),
  azure: strict('chat_completions', 'filter results in chunks of their own are kept as metadata'),
  bedrock: strict('bedrock_converse', 'the documentation is the default'),
  cohere: strict('cohere', 'the documentation is the default'),
  ollama: strict('ollama', 'the documentation is the default'),
  'ollama-openai': strict(
    'chat_completions',
    'an upstream error ends the body without reason and [DONE]: both stay required',
  ),
  avian: strict('chat_completions', 'nothing differs'),
  cerebras: strict('chat_completions', 'nothing differs'),
  cloudflare: strict('chat_completions', 'nothing differs'),
  databricks: strict('chat_completions', 'nothing differs'),
  deepseek: strict(
    'chat_completions',
    'comments while waiting, a finish reason of its own for overload: both are read',
  ),
  doubleword: strict('chat_completions', 'nothing differs'),
  'github-copilot': strict('chat_completions', 'nothing differs'),
  gpustack: strict('chat_completions', 'errors in place of events are read'),
  groq: strict('chat_completions', 'usage and errors under x_groq are read'),
  huggingface: strict('chat_completions', 'nothing differs'),
  litellm: strict('chat_completions', 'nothing differs'),
  'llama.cpp': strict('chat_completions', 'timings are kept as metadata'),
  minimax: strict('chat_completions', 'nothing differs'),
  mistral: strict('chat_completions', 'content as parts, whole calls without index: both are read'),
  moonshot: strict('chat_completions', 'usage inside the choice is read'),
  openrouter: strict('chat_completions', 'errors beside a finish reason, comments while waiting: both are read'),
  perplexity: {
    api: 'chat_completions',
    profile: { sentinel: 'optional' },
    why: 'the body ends after the finish reason, without [DONE]; there are no client tools',
  },
  'qwen-native': {
    api: 'chat_completions',
    profile: { cumulativeText: true },
    why: 'without incremental_output every event repeats the text so far',
  },
  qwen: strict('chat_completions', 'an empty id in later fragments says nothing new, as by default'),
  snowflake: {
    api: 'chat_completions',
    profile: { finishReason: 'optional' },
    why: 'the last chunk has usage and no finish reason',
  },
  tgi: strict('chat_completions', 'nothing differs'),
  together: strict('chat_completions', 'nothing differs'),
  venice: strict('chat_completions', 'nothing differs'),
  'vercel-gateway': strict('chat_completions', 'nothing differs'),
  vllm: strict('chat_completions', 'stop_reason beside the finish reason is kept as metadata'),
  writer: strict('chat_completions', 'nothing differs'),
  xai: strict('chat_completions', 'no finish reason before the last chunk, as by default'),
  zai: strict('chat_completions', 'nothing differs'),
})

/**
 * A built-in profile by name.
 *
 * @throws TypeError for a name that is not in {@link PROFILES}
 */
export function profileOf(name: string): BuiltInProfile {
  if (!Object.hasOwn(PROFILES, name)) {
    throw new TypeError(`no built-in profile "${name.slice(0, 40)}"; known are ${Object.keys(PROFILES).join(', ')}`)
  }
  return PROFILES[name]!
}
