/** A plan, a timing or a fault that can't be understood: which, and what is known. A flag's, or a request header's. */
export class ReplaySyntaxError extends Error {
  override readonly name = 'ReplaySyntaxError'
}
