import { bodyPieces } from './body-pieces.ts'
import { ImportError } from './import-error.ts'
import { untimed } from './imported-exchange.ts'
import type { ImportedExchange } from './imported-exchange.ts'
import { splitHeads } from './response-heads.ts'

/** What `curl -i` writes: heads, then the body of the last of them. It has no times. */
export function importCurlOutput(bytes: Uint8Array): ImportedExchange {
  const { heads, body } = splitHeads(bytes, { final: true }) ?? { heads: [], body: bytes }
  const response = heads.at(-1)
  if (response === undefined) {
    throw new ImportError(
      'no response head (HTTP/1.1 200 …, header lines, an empty line) comes first; record with curl -i',
      { line: 1 },
    )
  }
  return {
    source: { kind: 'curl', heads: heads.length },
    timing: 'none',
    interim: heads.slice(0, -1).map(({ status, headers }) => ({ atUs: 0, status, headers })),
    response: { atUs: 0, ...response },
    reads: untimed(bodyPieces(body)),
    end: { atUs: 0, kind: 'complete' },
  }
}
