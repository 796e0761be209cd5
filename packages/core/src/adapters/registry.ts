import type { StreamAdapter } from './adapter.ts'
import { chatCompletions } from './openai-chat/adapter.ts'
import type { ChatProfile } from './openai-chat/profile.ts'

/** Wire formats by the name that reports, the CLI and the gateway use. */
export const APIS = ['chat_completions'] as const

export type Api = (typeof APIS)[number]

/**
 * The adapter of a wire format by name, for shells that learn the name at run time. Code that knows its format imports the
 * adapter itself, so that the others are shaken away.
 *
 * @throws TypeError for a name that is not in {@link APIS}
 */
export function adapterFor(api: Api, profile: ChatProfile = {}): StreamAdapter {
  switch (api) {
    case 'chat_completions':
      return chatCompletions(profile)
    default:
      throw new TypeError(`unknown API "${String(api)}"; known are ${APIS.join(', ')}`)
  }
}
