import type { Api } from '../chunk/api.ts'
import type { StreamAdapter } from './adapter.ts'
import { anthropicMessages } from './anthropic-messages/adapter.ts'
import { bedrockConverse } from './bedrock-converse/adapter.ts'
import { cohere } from './cohere/adapter.ts'
import { gemini } from './gemini/adapter.ts'
import { ollama } from './ollama/adapter.ts'
import { chatCompletions } from './openai-chat/adapter.ts'
import { completions } from './openai-completions/adapter.ts'
import { responses } from './openai-responses/adapter.ts'
import type { ProviderProfile } from './profile.ts'
import { readProfile } from './read-profile.ts'

const ADAPTERS: Readonly<Record<Api, (profile?: ProviderProfile) => StreamAdapter>> = {
  chat_completions: chatCompletions,
  responses,
  anthropic_messages: anthropicMessages,
  gemini,
  ollama,
  cohere,
  bedrock_converse: bedrockConverse,
  completions,
}

export const APIS: readonly Api[] = Object.freeze(Object.keys(ADAPTERS) as Api[])

/**
 * The adapter of a wire format by name, for shells that learn the name at run time. Code that knows its format imports the
 * adapter itself, so that the others are shaken away.
 *
 * @throws TypeError for a name that is not in {@link APIS}, and for a profile that {@link readProfile} refuses
 */
export function adapterFor(api: Api, profile: ProviderProfile = {}): StreamAdapter {
  if (!Object.hasOwn(ADAPTERS, api)) {
    throw new TypeError(`unknown API "${api as string}"; known are ${APIS.join(', ')}`)
  }
  return ADAPTERS[api](readProfile(profile))
}
