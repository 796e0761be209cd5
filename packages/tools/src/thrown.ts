/** What whatever was thrown says of itself. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Only the kind, for where an error's message may repeat arguments. */
export function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown
}
