/** What a call came to, as the model is told. */
export interface CallResult {
  /** {@link ToolCallBlock.callId} of the call that it answers. */
  readonly callId: string
  /** JSON, or a sentence. */
  readonly content: string
  /** The call failed or was not run. Told where the wire format has a word for it. Default false. */
  readonly isError?: boolean
}
