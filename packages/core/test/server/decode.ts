import { adapterFor } from '../../src/adapters/registry.ts'
import type { StreamChunk } from '../../src/chunk/chunk.ts'
import { createStreamEngine } from '../../src/engine/engine.ts'
import type { StreamReport } from '../../src/engine/report.ts'
import { createEventStreamEncoder } from '../../src/server/index.ts'
import type { EncodableApi } from '../../src/server/index.ts'

export function encode(chunks: readonly StreamChunk[], api: EncodableApi): string {
  const encoder = createEventStreamEncoder(api, { created: 1 })
  return chunks.map((chunk) => encoder.push(chunk)).join('') + encoder.end()
}

/** Reads a body cut at these offsets, as any client does. */
export function decode(body: string, api: EncodableApi, cuts: readonly number[] = []): StreamReport {
  const bytes = new TextEncoder().encode(body)
  const engine = createStreamEngine({ adapter: adapterFor(api) })
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    engine.push(bytes.subarray(from, cut))
    from = cut
  }
  engine.end('eof')
  return engine.report()
}
