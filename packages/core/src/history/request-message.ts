/** One element of `messages`, `input` or `contents` of a request, ready to be written as JSON. */
export type RequestMessage = Readonly<Record<string, unknown>>

/** The wire formats that have a history of messages, by the name that reports and adapters use. */
export type HistoryApi =
  | 'chat_completions'
  | 'responses'
  | 'anthropic_messages'
  | 'gemini'
  | 'ollama'
  | 'cohere'
  | 'bedrock_converse'
