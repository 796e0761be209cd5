import { ReplaySyntaxError } from '../replay/replay-syntax-error.ts'
import { ARRIVAL_FAULTS } from './arrival-faults.ts'
import { EVENT_FAULTS } from './event-faults.ts'
import type { FaultDefinition } from './fault-definition.ts'
import { FRAMING_FAULTS } from './framing-faults.ts'
import { PAYLOAD_FAULTS } from './payload-faults.ts'
import { RESPONSE_FAULTS } from './response-faults.ts'
import { TRANSPORT_FAULTS } from './transport-faults.ts'

/** Every fault by name. */
export const FAULTS: ReadonlyMap<string, FaultDefinition> = new Map(
  [
    ...TRANSPORT_FAULTS,
    ...ARRIVAL_FAULTS,
    ...FRAMING_FAULTS,
    ...EVENT_FAULTS,
    ...RESPONSE_FAULTS,
    ...PAYLOAD_FAULTS,
  ].map((definition) => [definition.name, definition]),
)

/** @throws ReplaySyntaxError for a name that is not known */
export function faultNamed(name: string): FaultDefinition {
  const found = FAULTS.get(name)
  if (found === undefined)
    throw new ReplaySyntaxError(`"${name}" is no fault; known are ${[...FAULTS.keys()].join(', ')}`)
  return found
}
