import type { StreamFault } from '../chunk/fault.ts'

/** The kind of an error in the words of OpenAI's APIs. */
export function errorTypeOf({ status, code }: StreamFault): string {
  if (code === 'rate_limited' || status === 429) return 'rate_limit_error'
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 404) return 'not_found_error'
  return status !== undefined && status >= 400 && status < 500 ? 'invalid_request_error' : 'server_error'
}
