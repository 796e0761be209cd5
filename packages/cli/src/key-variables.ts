import type { Api } from 'streamfold'

/** Environment variables in which each API's own clients look for the key, in this order. */
const KEY_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  chat_completions: ['OPENAI_API_KEY'],
  completions: ['OPENAI_API_KEY'],
  responses: ['OPENAI_API_KEY'],
  anthropic_messages: ['ANTHROPIC_API_KEY'],
  gemini: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  ollama: ['OLLAMA_API_KEY'],
  cohere: ['COHERE_API_KEY', 'CO_API_KEY'],
  bedrock_converse: ['AWS_BEARER_TOKEN_BEDROCK'],
} satisfies Record<Api, readonly string[]>

/** Where the key of an endpoint is looked for; `named` is the one variable that the command line says. */
export function keyVariables(api: string, named: string | undefined): readonly string[] {
  return named === undefined ? (KEY_VARIABLES[api] ?? []) : [named]
}

/** The first of these variables that is set and not empty. */
export function firstSet(
  names: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): { readonly name: string; readonly value: string } | undefined {
  for (const name of names) {
    const value = env[name]
    if (value !== undefined && value !== '') return { name, value }
  }
  return undefined
}
