import { responses } from '../../../src/adapters/openai-responses/adapter.ts'
import type { ProviderProfile } from '../../../src/adapters/profile.ts'
import { DEFAULT_LIMITS } from '../../../src/chunk/limits.ts'
import type { RequestFacts } from '../../../src/chunk/request-facts.ts'
import type { Collected } from '../collect.ts'
import { createOutput } from '../collect.ts'

/** Everything the adapter makes of these events, its end included. Text is data as it is. */
export function collectResponses(
  events: readonly unknown[],
  request: RequestFacts = {},
  profile: ProviderProfile = {},
): Collected {
  const machine = responses(profile).open({ request, limits: DEFAULT_LIMITS, idSeed: 'test' })
  const { out, notes } = createOutput()
  for (const event of events) machine.push({ data: typeof event === 'string' ? event : JSON.stringify(event) }, out)
  machine.end(out)
  return { chunks: out.chunks, notes, skipped: out.skipped.map(({ message }) => message), machine }
}
