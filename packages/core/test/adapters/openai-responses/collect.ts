import { responses } from '../../../src/adapters/openai-responses/adapter.ts'
import type { ProviderProfile } from '../../../src/adapters/profile.ts'
import type { StreamChunk } from '../../../src/chunk/chunk.ts'
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

/** The chunks of one type. */
export function ofType<Type extends StreamChunk['type']>(
  chunks: readonly StreamChunk[],
  type: Type,
): readonly Extract<StreamChunk, { type: Type }>[] {
  return chunks.filter((chunk): chunk is Extract<StreamChunk, { type: Type }> => chunk.type === type)
}

/** What calls contradict themselves in, in words. */
export function conflicts(chunks: readonly StreamChunk[]): readonly string[] {
  return ofType(chunks, 'tool-call-delta').flatMap(({ conflict }) => (conflict === undefined ? [] : [conflict.message]))
}
