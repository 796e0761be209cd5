/** Chat Completions on the wire, as short as can be. */

export const DONE = 'data: [DONE]\n\n'

export function sse(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

export interface ChunkFields {
  readonly choice?: number
  readonly finish?: string | null
  readonly [field: string]: unknown
}

/** One chunk with a delta for one choice; other fields go beside `choices`. */
export function chunk(delta: object, { choice = 0, finish: reason = null, ...rest }: ChunkFields = {}): string {
  return sse({ id: 'resp_1', model: 'm', ...rest, choices: [{ index: choice, delta, finish_reason: reason }] })
}

export function text(content: string, fields?: ChunkFields): string {
  return chunk({ content }, fields)
}

export function refusal(said: string, fields?: ChunkFields): string {
  return chunk({ refusal: said }, fields)
}

/** A whole call in one delta. */
export function call(index: number, name: string, args: string, fields?: ChunkFields): string {
  return chunk(
    { tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: args } }] },
    fields,
  )
}

/** More arguments for a call. */
export function more(index: number, args: string, fields?: ChunkFields): string {
  return chunk({ tool_calls: [{ index, function: { arguments: args } }] }, fields)
}

export function finish(reason: string, choice = 0): string {
  return chunk({}, { finish: reason, choice })
}

export function usage(outputTokens: number): string {
  return sse({
    id: 'resp_1',
    choices: [],
    usage: { prompt_tokens: 1, completion_tokens: outputTokens, total_tokens: 1 + outputTokens },
  })
}
