import type { StreamFault } from '../chunk/fault.ts'

/**
 * The start of a message where one was already told: two generations in one stream. For formats whose start has no model that
 * would have to differ too: the start itself is the restart of the role.
 */
export function spliced(event: string): StreamFault {
  return {
    code: 'stream_splice',
    phase: 'delta',
    retryable: 'restart',
    message: `two messages in one stream: ${event} came again behind content; discard the text and ask again`,
  }
}
