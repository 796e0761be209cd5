import type { StreamChunk } from '../chunk/chunk.ts'
import type { StreamFault } from '../chunk/fault.ts'

/** What is left of the chunks for a writer: its response learns the others by itself, and no API announces an empty block. */
export type WritableChunk = Exclude<StreamChunk, { readonly type: 'start' | 'block-start' | 'usage' | 'error' }>

/** What an API makes of the chunks; the order of things, and what must not pass, is the encoder's business. */
export interface EventStreamWriter {
  /** Only choice 0 exists in this API. */
  readonly oneChoice: boolean
  /** The response has begun: what the API says before any content, once. */
  begin(): string
  write(chunk: WritableChunk): string
  /** Every choice has finished. */
  close(): string
  error(fault: StreamFault): string
}
