import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterOutput } from '../adapter.ts'
import { isKeepable } from '../kept-value.ts'
import { statedTwice } from '../stated-twice.ts'
import { identity, nameText } from '../wire-value.ts'
import { NOTHING, readStartInput } from './call-input.ts'
import type { StartInput } from './call-input.ts'
import { CALL_KEYS, isSaid } from './wire.ts'

/** What a block start says of its call. */
export interface CallStart {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly input: StartInput
  readonly providerExecuted: boolean
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly invalidUtf8: boolean
  /** Why what the start says can't be trusted. */
  readonly unsafe: string | undefined
}

type Wire = Readonly<Record<string, unknown>>

export function readCallStart(
  raw: Wire,
  type: string,
  providerExecuted: boolean,
  event: ServerSentEvent,
  out: AdapterOutput,
): CallStart {
  const input = readStartInput(raw['input'], event.data)
  if (typeof input === 'string') out.skipped.push({ message: input })
  return {
    id: identity(raw['id']),
    name: nameText(raw['name']),
    input: typeof input === 'string' ? NOTHING : input,
    providerExecuted,
    metadata: extrasOf(raw, type),
    invalidUtf8: event.invalidUtf8 === true,
    unsafe: providerExecuted ? undefined : statedTwice(event, START),
  }
}

/** What the start of a block says of it; whole messages have their blocks in another place. */
const START = ['/type', '/index', '/content_block', '/content', '/message/content'] as const

/** Everything else that a call says is kept, and its type where that is not the usual one. */
function extrasOf(raw: Wire, type: string): Record<string, unknown> | undefined {
  let extras: Record<string, unknown> | undefined
  for (const name of Object.keys(raw)) {
    if (CALL_KEYS.has(name) || !isSaid(raw[name]) || !isKeepable(raw[name])) continue
    if (name === 'type' && type === 'tool_use') continue
    extras ??= Object.create(null) as Record<string, unknown>
    extras[name] = raw[name]
  }
  return extras
}
