import type { StreamChunk, ToolCallDelta } from '../chunk/chunk.ts'
import type { FaultCode, StreamFault } from '../chunk/fault.ts'
import { permitsToolCalls } from '../chunk/finish-reason.ts'
import { blockKey } from './block-key.ts'

type Finish = Extract<StreamChunk, { readonly type: 'finish' }>

/** Finds what can't be written without making something broken look whole. */
export class RefusalCheck {
  /** Calls by their choice that have no name yet. */
  readonly #nameless = new Map<string, { readonly choice: number; readonly id: string }>()
  readonly #named = new Set<string>()

  ofCall(chunk: ToolCallDelta): StreamFault | undefined {
    const { id, choice = 0, name, conflict, invalidUtf8, unsafeArguments } = chunk
    const key = blockKey(chunk)
    if (name !== undefined) {
      this.#named.add(key)
      this.#nameless.delete(key)
    } else if (!this.#named.has(key)) this.#nameless.set(key, { choice, id })
    if (conflict !== undefined) return refusal('protocol_conflict', conflict.message, id)
    if (invalidUtf8 === true) return refusal('invalid_utf8', 'its arguments came with bytes that are not UTF-8', id)
    if (unsafeArguments !== undefined) return refusal('arguments_unsafe', unsafeArguments, id)
    return undefined
  }

  ofFinish({ choice = 0, reason, raw }: Finish): StreamFault | undefined {
    if (reason === 'error' || reason === 'aborted') {
      const code = reason === 'error' ? 'upstream_error' : 'incomplete_stream'
      return refusal(code, `the provider gave up (${raw ?? reason}); a new attempt may succeed`)
    }
    if (!permitsToolCalls(reason)) return undefined
    const nameless = [...this.#nameless.values()].find((call) => call.choice === choice)
    return nameless === undefined ? undefined : refusal('missing_name', 'it never got a name', nameless.id)
  }
}

export function refusal(code: FaultCode, why: string, callId?: string): StreamFault {
  return {
    code,
    phase: callId === undefined ? 'delta' : 'call',
    retryable: 'restart',
    ...(callId !== undefined && { callId }),
    message: callId === undefined ? why : `the call ${callId} can't be passed on: ${why}`,
  }
}
