/** What is known of the request. Each fact arms the checks that need it; an absent one leaves them not applicable. */
export interface RequestFacts {
  /** Choices asked for. */
  readonly n?: number
  /** The output token limit that was sent. */
  readonly maxOutputTokens?: number
  /** Names of the declared tools. Names match exactly. */
  readonly tools?: readonly string[]
  /** Usage was asked for (`stream_options.include_usage`). */
  readonly usage?: boolean
  /** Number of the last event that was received before: a stored stream is resumed behind it (`starting_after`). */
  readonly startingAfter?: number
}
