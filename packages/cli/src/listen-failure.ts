/** What the system says of an address that can't be listened on: taken, forbidden, not of this machine, no name. */
const CODES: ReadonlySet<unknown> = new Set(['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND'])

/** A sentence for a server that could not be started because of its address; undefined for any other error. */
export function listenFailure(error: unknown, flags: string): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return CODES.has(code) ? `can't listen there (${String(code)}); choose another ${flags}` : undefined
}
