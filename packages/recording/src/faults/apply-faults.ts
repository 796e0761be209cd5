import type { Api, ProviderProfile } from 'streamfold'
import { seededRandom } from '../seeded-random.ts'
import type { ReplayScript } from '../replay/replay-script.ts'
import { faultNamed } from './catalogue.ts'
import { faultText } from './fault-spec.ts'
import type { FaultSpec } from './fault-spec.ts'
import { FaultTarget, NotApplicable } from './fault-target.ts'

export interface ApplyFaultsOptions {
  /** Wire format of the body; faults that change its JSON, or look for calls, need it. */
  readonly api?: Api | undefined
  readonly profile?: ProviderProfile | undefined
  /** For faults with a probability. Default 1. */
  readonly seed?: number | undefined
}

export interface FaultedScript {
  readonly script: ReplayScript
  /** What was done, in order. */
  readonly applied: readonly AppliedFault[]
  /** What could not be done to this stream, and why. A probability that did not come up is none of it. */
  readonly missed: readonly MissedFault[]
}

export interface AppliedFault {
  /** As it was asked for. */
  readonly text: string
  /** Numbers of the faults seen in public that it is modelled on. */
  readonly faults: readonly string[]
}

export interface MissedFault {
  readonly text: string
  readonly reason: string
}

/**
 * Makes faults of a stream, one after another: the places of each are those of the stream that the ones before it left.
 *
 * @throws ReplaySyntaxError for a fault or an argument that is not known
 */
export function applyFaults(
  script: ReplayScript,
  specs: readonly FaultSpec[],
  { api, profile, seed = 1 }: ApplyFaultsOptions = {},
): FaultedScript {
  const random = seededRandom(seed)
  const applied: AppliedFault[] = []
  const missed: MissedFault[] = []
  let current = script
  for (const spec of specs) {
    const definition = faultNamed(spec.name)
    // Drawn even where it is not needed: adding a fault must not change what becomes of the others.
    const drawn = random()
    if (spec.probability !== undefined && drawn >= spec.probability) continue
    const text = faultText(spec)
    try {
      current = definition.apply(new FaultTarget(current, spec, { api, profile, random }))
      applied.push({ text, faults: definition.faults })
    } catch (error) {
      if (!(error instanceof NotApplicable)) throw error
      missed.push({ text, reason: error.message })
    }
  }
  return { script: current, applied, missed }
}
