import type { ToolCallDelta } from '../chunk/chunk.ts'

/** One call as it is written. */
export interface WrittenCall {
  readonly callId: string
  /** Place among the calls of its choice, or among all blocks. */
  readonly index: number
  name: string | undefined
  readonly freeText: boolean
  /** Everything that came; what came before the name is written together with it. */
  text: string
  metadata: Readonly<Record<string, unknown>> | undefined
}

export function callOf(chunk: ToolCallDelta, index: number): WrittenCall {
  return {
    callId: chunk.id,
    index,
    name: undefined,
    freeText: chunk.freeText === true,
    text: '',
    metadata: undefined,
  }
}

/**
 * Takes a fragment. Gives back the text to be written now: nothing while the name is not known, as clients take a call's first
 * fragment for its name.
 */
export function take(call: WrittenCall, chunk: ToolCallDelta): { readonly text: string; readonly begins: boolean } {
  const begins = call.name === undefined && chunk.name !== undefined
  if (begins) call.name = chunk.name
  if (chunk.metadata !== undefined) call.metadata = { ...call.metadata, ...chunk.metadata }
  call.text += chunk.argumentsDelta
  if (call.name === undefined) return { text: '', begins: false }
  return { text: begins ? call.text : chunk.argumentsDelta, begins }
}
