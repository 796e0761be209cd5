/** Without keys that the API itself uses: what a provider keeps for itself must not change what is said. */
export function foreign(
  fields: Readonly<Record<string, unknown>> | undefined,
  own: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  if (fields === undefined) return {}
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !own.has(key)))
}
