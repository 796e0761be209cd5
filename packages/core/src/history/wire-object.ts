/** An object of the wire, as metadata keeps it. */
export function isWireObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
