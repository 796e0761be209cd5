import type { StreamChunk } from '../chunk/chunk.ts'

type StartChunk = Extract<StreamChunk, { type: 'start' }>

/** The response began, with what its first event says of itself. */
export function startChunk(id?: string, model?: string): StartChunk {
  return { type: 'start', ...(id !== undefined && { id }), ...(model !== undefined && { model }) }
}
