/** Builders of Chat Completions wire text, so that a row of the catalogue reads like its own wire. */

export type Json = unknown

export const DONE = '[DONE]'

/** An event stream: each value is the data of one event, text as it is, everything else as JSON. */
export function sse(...events: readonly Json[]): string {
  return events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('')
}

/** An event with a name. */
export function named(name: string, data: Json): string {
  return `event: ${name}\n${sse(data)}`
}

/** A chunk with one choice. `reason` absent means null. */
export function chunk(
  delta: Json,
  reason: Json = null,
  extra: Readonly<Record<string, Json>> = {},
): Record<string, Json> {
  return chunkOf([{ index: 0, delta, finish_reason: reason }], extra)
}

/** A chunk of one of several choices. */
export function part(index: number, delta: Json, reason: Json = null): Record<string, Json> {
  return chunkOf([{ index, delta, finish_reason: reason }])
}

export function chunkOf(choices: Json, extra: Readonly<Record<string, Json>> = {}): Record<string, Json> {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm-1', choices, ...extra }
}

export function text(content: string, reason: Json = null): Record<string, Json> {
  return chunk({ content }, reason)
}

export function finish(reason: Json, delta: Json = {}): Record<string, Json> {
  return chunk(delta, reason)
}

/** A chunk whose delta holds these elements of `tool_calls`. */
export function tools(...fragments: readonly Json[]): Record<string, Json> {
  return chunk({ tool_calls: fragments })
}

/** One element of `tool_calls`; what is undefined is left off. */
export function fragment(index: Json, id: Json, name: Json, args: Json): Record<string, Json> {
  return {
    ...(index !== undefined && { index }),
    ...(id !== undefined && { id }),
    type: 'function',
    function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
  }
}

/** A chunk with one fragment. */
export function frag(index: Json, id: Json, name: Json, args: Json): Record<string, Json> {
  return tools(fragment(index, id, name, args))
}

export function usage(prompt: number, completion: number): Record<string, Json> {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

export function bytesOf(body: string): Uint8Array {
  return new TextEncoder().encode(body)
}
