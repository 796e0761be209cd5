import { ReplaySyntaxError } from '../replay/replay-syntax-error.ts'
import { SampleError } from './sample-error.ts'

/** An error on its way from one thread to another: a structured clone knows neither our classes nor their fields. */
export interface CarriedError {
  readonly name: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  /** Of a {@link SampleError}. */
  readonly sample?: { readonly file: string; readonly reason: string }
}

export function carriedError(error: unknown): CarriedError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const { name, message, stack } = error
  return {
    name,
    message,
    ...(stack !== undefined && { stack }),
    ...('code' in error && { code: String(error.code) }),
    ...(error instanceof SampleError && { sample: { file: error.file, reason: error.reason } }),
  }
}

/** The error again, of its own class where that is one of ours, and with the name, code and stack that it had. */
export function errorOf({ name, message, stack, code, sample }: CarriedError): Error {
  const error =
    sample !== undefined
      ? new SampleError(sample.file, sample.reason)
      : name === 'ReplaySyntaxError'
        ? new ReplaySyntaxError(message)
        : Object.assign(new Error(message), { name })
  return Object.assign(error, stack !== undefined && { stack }, code !== undefined && { code })
}
