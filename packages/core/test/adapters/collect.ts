import { AdapterOutput } from '../../src/adapters/adapter.ts'
import type { AdapterMachine } from '../../src/adapters/adapter.ts'
import { chatCompletions } from '../../src/adapters/openai-chat/adapter.ts'
import type { ProviderProfile } from '../../src/adapters/profile.ts'
import type { StreamChunk } from '../../src/chunk/chunk.ts'
import { DEFAULT_LIMITS } from '../../src/chunk/limits.ts'
import type { StreamLimits } from '../../src/chunk/limits.ts'
import type { RequestFacts } from '../../src/chunk/request-facts.ts'

/** An output that keeps its findings: `code` or `code: detail`. */
export function createOutput(): { readonly out: AdapterOutput; readonly notes: string[] } {
  const notes: string[] = []
  const out = new AdapterOutput((code, detail) => {
    notes.push(detail === undefined || detail === '' ? code : `${code}: ${detail}`)
  })
  return { out, notes }
}

export interface Collected {
  readonly chunks: readonly StreamChunk[]
  readonly notes: readonly string[]
  /** Messages of events that could not be read. */
  readonly skipped: readonly string[]
  readonly machine: AdapterMachine
}

/** Everything the Chat Completions adapter makes of these events, its end included. */
export function collect(
  events: readonly unknown[],
  profile: ProviderProfile = {},
  request: RequestFacts = {},
  limits: Partial<StreamLimits> = {},
): Collected {
  const machine = chatCompletions(profile).open({ request, limits: { ...DEFAULT_LIMITS, ...limits }, idSeed: 'test' })
  const { out, notes } = createOutput()
  for (const event of events) machine.push({ data: typeof event === 'string' ? event : JSON.stringify(event) }, out)
  machine.end(out)
  return { chunks: out.chunks, notes, skipped: out.skipped.map(({ message }) => message), machine }
}
