/** What an API allows as the id of a call. */
export interface IdRules {
  /** Characters that it does not take; each is written as `_`. */
  readonly forbidden?: RegExp
  readonly maxLength?: number
}

/**
 * An id for a call that no other call of the history has. Providers number their calls anew in each response, and some APIs
 * refuse a history in which an id is there twice (fault F078); others refuse the characters that some servers put into theirs.
 */
export function freeId(callId: string, { forbidden, maxLength = Infinity }: IdRules, used: Set<string>): string {
  const allowed = forbidden === undefined ? callId : callId.replace(forbidden, '_')
  const base = allowed === '' ? 'call' : allowed
  let id = base.slice(0, maxLength)
  for (let n = 2; used.has(id); n++) {
    const tail = `_${n}`
    id = base.slice(0, maxLength - tail.length) + tail
  }
  used.add(id)
  return id
}
