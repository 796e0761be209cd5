import { bodyUnits } from '../replay/body-units.ts'

/** A body event by event, where nobody knows how it was read. The pieces laid end to end are the body. */
export function bodyPieces(body: Uint8Array): readonly Uint8Array[] {
  return bodyUnits(body).units.map(({ from, to }) => body.subarray(from, to))
}
