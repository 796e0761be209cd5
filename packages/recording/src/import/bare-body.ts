import { bodyPieces } from './body-pieces.ts'
import { untimed } from './imported-exchange.ts'
import type { ImportedExchange } from './imported-exchange.ts'

/** A body and nothing else. That it is whole is what a saved file says, no more. */
export function importBody(bytes: Uint8Array): ImportedExchange {
  return {
    source: { kind: 'body' },
    timing: 'none',
    reads: untimed(bodyPieces(bytes)),
    end: { atUs: 0, kind: 'complete' },
  }
}
