/**
 * Messages events as servers send them. A field of the wrong type must not lose the rest of an event; `null`, an empty string and
 * absence mean "nothing new".
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/streaming
 */

/** Blocks that are calls; what is not here is no call. The provider runs the second and third kind itself (fault F083). */
export const CALL_TYPES: Readonly<Record<string, { readonly providerExecuted: boolean } | undefined>> = Object.assign(
  Object.create(null),
  {
    tool_use: { providerExecuted: false },
    server_tool_use: { providerExecuted: true },
    mcp_tool_use: { providerExecuted: true },
  },
)

/** Keys that are read, so that what is left is the provider's own and is kept as metadata. */
export const MESSAGE_KEYS: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'model',
  'content',
  'stop_reason',
  'usage',
])
export const EVENT_KEYS: ReadonlySet<string> = new Set([
  'type',
  'message',
  'delta',
  'index',
  'content_block',
  'usage',
  'error',
])
export const DELTA_KEYS: ReadonlySet<string> = new Set(['type', 'stop_reason'])

export const TEXT_KEYS: ReadonlySet<string> = new Set(['type', 'text', 'citations'])
export const THINKING_KEYS: ReadonlySet<string> = new Set(['thinking'])
export const CALL_KEYS: ReadonlySet<string> = new Set(['id', 'name', 'input'])

/** `null` and an empty text say nothing. */
export function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}
