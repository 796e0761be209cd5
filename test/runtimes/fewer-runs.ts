/**
 * fast-check with a tenth of the runs. What an engine gets wrong shows early or in a chosen example; that an input of a
 * million breaks a parser does not depend on the engine, and `npm test` looks for it.
 */
import * as fc from 'fast-check'

export * from 'fast-check'

export const assert = ((property: fc.IRawProperty<unknown>, parameters?: fc.Parameters<unknown>) =>
  fc.assert(property, { ...parameters, numRuns: Math.ceil((parameters?.numRuns ?? 100) / 10) })) as typeof fc.assert

export default { ...fc, assert }
