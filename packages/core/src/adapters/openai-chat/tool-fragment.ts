import { isKeepable } from '../kept-value.ts'
import type { IndexKey } from '../slot.ts'
import { CALL_KEYS, identity, isRecord } from './wire.ts'

/** One element of `delta.tool_calls`, or the legacy `delta.function_call`, cleaned. */
export interface ToolFragment {
  readonly index: IndexKey | undefined
  readonly id: string | undefined
  readonly name: string | undefined
  readonly argumentsDelta: string
  /** Arguments came as a JSON value instead of text and were serialised once (fault F038). */
  readonly serialised: boolean
  /** `custom` tools take free text. */
  readonly freeText: boolean
  /** Which kind of tool the fragment says it is for; undefined when it does not say. */
  readonly kind: 'function' | 'custom' | undefined
  /** Why a serialised value can't be trusted. */
  unsafe?: string
  readonly metadata: Record<string, unknown> | undefined
}

const NOTHING: Record<string, unknown> = {}

/** Index of the one call that `function_call` can describe. */
export const LEGACY_INDEX = 'function_call'

/** Undefined when the element is nothing at all (`null`); a string when it can't be a fragment, saying why. */
export function readToolFragment(raw: unknown): ToolFragment | string | undefined {
  if (raw === null || raw === undefined) return undefined
  if (!isRecord(raw)) return 'an element of tool_calls is not an object'
  // The type comes with the first fragment only.
  const custom = isRecord(raw['custom']) && !isRecord(raw['function']) ? raw['custom'] : undefined
  const described = raw['function']
  if (described !== undefined && described !== null && !isRecord(described))
    return 'the function of a tool call is not an object'
  const body = custom ?? (isRecord(described) ? described : NOTHING)
  if (body === NOTHING && (raw['arguments'] ?? raw['name']) != null) {
    return 'a tool call has its name or arguments outside of function'
  }
  return fragment(
    indexKey(raw['index']),
    raw,
    body,
    custom === undefined ? body['arguments'] : body['input'],
    custom !== undefined,
  )
}

export function readFunctionCall(raw: unknown): ToolFragment | string | undefined {
  if (raw === null || raw === undefined) return undefined
  if (!isRecord(raw)) return 'function_call is not an object'
  return fragment(LEGACY_INDEX, {}, raw, raw['arguments'], false)
}

function fragment(
  index: IndexKey | undefined,
  call: Record<string, unknown>,
  body: Record<string, unknown>,
  input: unknown,
  freeText: boolean,
): ToolFragment | string {
  const serialised = typeof input !== 'string' && input !== null && input !== undefined
  const argumentsDelta = typeof input === 'string' ? input : serialised ? serialise(input) : ''
  if (argumentsDelta === undefined)
    return 'arguments that came as a JSON value are nested too deeply to be written down'
  return {
    index,
    id: identity(call['id']),
    name: identity(body['name']),
    argumentsDelta,
    serialised,
    freeText,
    kind: freeText ? 'custom' : body === NOTHING ? undefined : 'function',
    metadata: extrasOf(call),
  }
}

/** An index is an opaque key; `null` is absent, and numeric text is its number (faults F064, F080). */
function indexKey(value: unknown): IndexKey | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const number = Number(value)
  // Text keys are kept apart from the key of the legacy call.
  return Number.isFinite(number) ? number : `text:${value}`
}

function serialise(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function extrasOf(call: Record<string, unknown>): Record<string, unknown> | undefined {
  let extras: Record<string, unknown> | undefined
  for (const key in call) {
    if (CALL_KEYS.has(key) || call[key] === null || !isKeepable(call[key])) continue
    extras ??= Object.create(null) as Record<string, unknown>
    extras[key] = call[key]
  }
  return extras
}
