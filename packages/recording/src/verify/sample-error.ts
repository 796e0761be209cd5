/** A sample that can't be read or understood: which, and why. */
export class SampleError extends Error {
  override readonly name = 'SampleError'
  readonly file: string
  /** Without the file. */
  readonly reason: string

  constructor(file: string, reason: string) {
    super(`${file}: ${reason}`)
    this.file = file
    this.reason = reason
  }
}
