import type { Recording } from 'streamfold/recording'
import { applyFaults } from '../faults/apply-faults.ts'
import type { ApplyFaultsOptions, FaultedScript } from '../faults/apply-faults.ts'
import type { FaultSpec } from '../faults/fault-spec.ts'
import { cutScript } from './cut-plan.ts'
import type { CutPlan } from './cut-plan.ts'
import { scriptOf } from './replay-script.ts'
import { retime } from './timing.ts'
import type { Timing } from './timing.ts'

export interface ReplayOptions extends ApplyFaultsOptions {
  /** Default `recorded`. */
  readonly plan?: CutPlan
  /** Default `original`; in process `none`. */
  readonly timing?: Timing
  readonly faults?: readonly FaultSpec[]
}

/**
 * What a replay sends: faults first, whose offsets are those of the recording; then the cuts, of what the faults left; then the
 * pauses.
 *
 * @throws RecordingError `body_encoded`
 * @throws ReplaySyntaxError for a fault that is not known
 */
export function prepareReplay(recording: Recording, options: ReplayOptions = {}): FaultedScript {
  const { plan = { kind: 'recorded' }, timing = { kind: 'original' }, faults = [] } = options
  const faulted = applyFaults(scriptOf(recording), faults, options)
  return { ...faulted, script: retime(cutScript(faulted.script, plan), timing) }
}
