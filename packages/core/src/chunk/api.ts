/** Wire formats by the name that reports, the CLI and the gateway use. */
export type Api =
  | 'chat_completions'
  | 'responses'
  | 'anthropic_messages'
  | 'gemini'
  | 'ollama'
  | 'cohere'
  | 'bedrock_converse'
  | 'completions'
