import type { StreamFault } from '../chunk/fault.ts'
import { clip } from '../json/clip.ts'

/** What a generation calls itself. */
export interface GenerationName {
  readonly id: string | undefined
  readonly model?: string | undefined
}

/** Another generation begins where one was already told: what came is of both, and an answer of neither. */
export function spliced(what: string, before: GenerationName, now: GenerationName): StreamFault {
  return spliceFault(`two ${what} in one stream: ${named(before)} is followed by ${named(now)}`)
}

/**
 * The start of a message where one was already told: two generations in one stream. For formats whose start has no model that
 * would have to differ too: the start itself is the restart of the role.
 */
export function startedAgain(event: string): StreamFault {
  return spliceFault(`two messages in one stream: ${event} came again behind content`)
}

function spliceFault(what: string): StreamFault {
  return {
    code: 'stream_splice',
    phase: 'delta',
    retryable: 'restart',
    message: `${what}; discard the text and ask again`,
  }
}

function named({ id, model }: GenerationName): string {
  return model === undefined ? quote(id) : `${quote(id)} of ${quote(model)}`
}

function quote(text: string | undefined): string {
  return `"${clip(text ?? '', 80)}"`
}
