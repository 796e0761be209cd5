import type { Api, ProviderProfile } from 'streamfold'

/** What an endpoint is asked for, from cheap to dear. */
export const CAPABILITIES = [
  'non_streaming',
  'streaming',
  'usage',
  'sentinel',
  'errors',
  'ends',
  'tools',
  'incremental_arguments',
  'parallel_calls',
] as const

export type CapabilityName = (typeof CAPABILITIES)[number]

/** `partial`: in part, or not each time. `unknown`: not measured, or nothing can be concluded. */
export type CapabilityState = 'yes' | 'partial' | 'no' | 'unknown'

export interface Capability {
  readonly state: CapabilityState
  /** What was seen, in a few words. */
  readonly detail: string
  /** State of each round. */
  readonly rounds: readonly CapabilityState[]
  /** Recordings that show it: file names where they were kept, ids otherwise. */
  readonly evidence: readonly string[]
  /** Where someone has claimed a state: what, and what the measurement says of that. */
  readonly claim?: { readonly state: CapabilityState; readonly status: ClaimStatus }
}

/** `unverified`: nothing was measured that could speak for or against the claim. */
export type ClaimStatus = 'verified' | 'contradicted' | 'unverified'

export const CAPABILITIES_SCHEMA = 'streamfold/capabilities@1'

/** What one endpoint and API could do on one day. */
export interface CapabilityRecord {
  readonly schema: typeof CAPABILITIES_SCHEMA
  /** Base URL, without secrets. */
  readonly endpoint: string
  readonly api: Api
  readonly model: string
  /** RFC 3339. */
  readonly measuredAt: string
  readonly by: string
  readonly repeat: number
  readonly requests: { readonly sent: number; readonly allowed: number }
  /** Why the measurement ended before its time. */
  readonly stopped?: { readonly code: 'unreachable' | 'no_access' | 'budget'; readonly message: string }
  readonly capabilities: Readonly<Record<CapabilityName, Capability>>
  /** What the endpoint does differently, as far as it was seen each time; the client and the gateway load it. */
  readonly profile: ProviderProfile
}

export type Claims = Readonly<Partial<Record<CapabilityName, CapabilityState>>>

/** The record with what was claimed held against what was measured. A claim without a measurement is never verified. */
export function withClaims(record: CapabilityRecord, claims: Claims): CapabilityRecord {
  const capabilities = Object.fromEntries(
    CAPABILITIES.map((name) => {
      const measured = record.capabilities[name]
      const state = claims[name]
      if (state === undefined || state === 'unknown') return [name, measured]
      const status: ClaimStatus =
        measured.state === 'unknown' ? 'unverified' : measured.state === state ? 'verified' : 'contradicted'
      return [name, { ...measured, claim: { state, status } }]
    }),
  ) as Record<CapabilityName, Capability>
  return { ...record, capabilities }
}

export interface Drift {
  readonly capability: CapabilityName
  readonly before: CapabilityState
  readonly after: CapabilityState
}

/** Capabilities that are measured differently than before. What either measurement does not know is no drift. */
export function driftOf(before: CapabilityRecord, after: CapabilityRecord): readonly Drift[] {
  return CAPABILITIES.map((capability) => ({
    capability,
    before: before.capabilities[capability]?.state ?? 'unknown',
    after: after.capabilities[capability].state,
  })).filter((drift) => drift.before !== drift.after && drift.before !== 'unknown' && drift.after !== 'unknown')
}
