import type { FaultCode } from 'streamfold'
import type { ReplayScript } from '../replay/replay-script.ts'
import type { FaultTarget } from './fault-target.ts'

/**
 * What must become of the calls of a stream under a fault.
 * - `same`: nothing is lost on the wire, so the result is the same in every way that has no clock.
 * - `same-or-none`: a choice's calls are the same, or none of them may be run; never other ones.
 * - `same-or-unproven`: as `same-or-none` where the stream itself releases every call of the choice. Where it speaks against one (a
 *   conflict, a limit, a second delivery), the fault may take that evidence away, and then no reader can tell.
 * - `untold`: the wire carries no evidence of the fault (no sequence numbers, no hash), so no reader can promise anything.
 */
export type CallPromise = 'same' | 'same-or-none' | 'same-or-unproven' | 'untold'

/** One kind of fault. */
export interface FaultDefinition {
  readonly name: string
  /** What it does, in a few words. */
  readonly about: string
  /** Arguments, as they are written behind the name. */
  readonly usage?: string
  /** Numbers of the faults seen in public that it is modelled on, the same that comments in the sources name. */
  readonly faults: readonly string[]
  readonly calls: CallPromise
  /** The code with which every stream fails under it; undefined where that depends on the stream. */
  readonly code?: (args: readonly string[]) => FaultCode | undefined
  /** @throws NotApplicable where the stream has nothing that it could strike */
  apply(target: FaultTarget): ReplayScript
}
