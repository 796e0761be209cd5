import { expectTypeOf } from 'vitest'
import { StreamError } from '../../src/index.ts'
import type { FaultCode, Phase, ProviderError, Retryable } from '../../src/index.ts'

// `is` narrows what a catch clause has, so that `code` can be matched.
export function codeOf(error: unknown): FaultCode | undefined {
  // @ts-expect-error nothing is known of it yet
  void error.code
  if (!StreamError.is(error)) {
    expectTypeOf(error).toBeUnknown()
    return undefined
  }
  expectTypeOf(error).toEqualTypeOf<StreamError>()
  expectTypeOf(error.phase).toEqualTypeOf<Phase>()
  expectTypeOf(error.retryable).toEqualTypeOf<Retryable>()
  expectTypeOf(error.status).toEqualTypeOf<number | undefined>()
  expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | undefined>()
  expectTypeOf(error.offset).toEqualTypeOf<number | undefined>()
  expectTypeOf(error.eventNumber).toEqualTypeOf<number | undefined>()
  expectTypeOf(error.callId).toEqualTypeOf<string | undefined>()
  expectTypeOf(error.provider).toEqualTypeOf<ProviderError | undefined>()
  return error.code
}

// Codes are a closed union: a misspelt one does not compile.
export function isTimeout(error: StreamError): boolean {
  // @ts-expect-error no such code
  if (error.code === 'idle_time_out') return true
  return error.code === 'idle_timeout'
}

// @ts-expect-error a fault has a code of the union
export const misspelt: StreamError = new StreamError({ code: 'oops', phase: 'delta', message: '', retryable: 'no' })
