/** A foreign file that can't be read: where, and why. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
  /** From 1; absent where the place is a path in a JSON document, or the whole file. */
  readonly line?: number
  /** Place in a JSON document: `log.entries[3].response.content`. */
  readonly path?: string

  constructor(reason: string, place: { readonly line?: number; readonly path?: string } = {}) {
    const { line, path } = place
    super(line !== undefined ? `line ${line}: ${reason}` : path !== undefined ? `${path}: ${reason}` : reason)
    if (line !== undefined) this.line = line
    if (path !== undefined) this.path = path
  }
}
