import type { StreamAdapter } from '../../src/adapters/adapter.ts'
import { DEFAULT_LIMITS } from '../../src/chunk/limits.ts'
import type { StreamLimits } from '../../src/chunk/limits.ts'
import type { RequestFacts } from '../../src/chunk/request-facts.ts'
import { createOutput } from './collect.ts'
import type { Collected } from './collect.ts'

/** Everything an adapter makes of these events, its end included. A text is the data as it is. */
export function collectWith(
  adapter: StreamAdapter,
  events: readonly unknown[],
  request: RequestFacts = {},
  limits: Partial<StreamLimits> = {},
): Collected {
  const machine = adapter.open({ request, limits: { ...DEFAULT_LIMITS, ...limits }, idSeed: 'test' })
  const { out, notes } = createOutput()
  for (const event of events) machine.push({ data: typeof event === 'string' ? event : JSON.stringify(event) }, out)
  machine.end(out)
  return { chunks: out.chunks, notes, skipped: out.skipped.map(({ message }) => message), machine }
}
