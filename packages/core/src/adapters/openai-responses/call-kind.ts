import { identity, isNothing, isRecord, nameText } from '../wire-value.ts'

type Raw = Readonly<Record<string, unknown>>

/**
 * Who answers a call.
 *
 * - `caller`: it names a tool that the caller declared. Only these are ever released.
 * - `provider`: a hosted tool; its result is in the same response.
 * - `host`: a built-in tool of the provider that waits for the caller's own code, under a protocol of its own (a shell, a patch, a
 *   screen, an approval). It is shown with its item, and not released: it is no tool that could be looked up by its name.
 */
export type CallOwner = 'caller' | 'provider' | 'host'

/** What an item type says about its calls. */
export interface CallKind {
  /** Field of the item that holds the input. */
  readonly field: string
  /** The input is text, not JSON. */
  readonly freeText: boolean
  ownerOf(item: Raw): CallOwner
}

const byCaller = (): CallOwner => 'caller'
const byProvider = (): CallOwner => 'provider'
const byHost = (): CallOwner => 'host'

const KINDS: Readonly<Record<string, CallKind | undefined>> = Object.assign(Object.create(null), {
  function_call: { field: 'arguments', freeText: false, ownerOf: byCaller },
  custom_tool_call: { field: 'input', freeText: true, ownerOf: byCaller },
  mcp_call: { field: 'arguments', freeText: false, ownerOf: byProvider },
  mcp_approval_request: { field: 'arguments', freeText: false, ownerOf: byHost },
  code_interpreter_call: { field: 'code', freeText: true, ownerOf: byProvider },
  program: { field: 'code', freeText: true, ownerOf: byProvider },
  file_search_call: { field: 'queries', freeText: false, ownerOf: byProvider },
  web_search_call: { field: 'action', freeText: false, ownerOf: byProvider },
  image_generation_call: { field: 'prompt', freeText: true, ownerOf: byProvider },
  tool_search_call: {
    field: 'arguments',
    freeText: false,
    ownerOf: (item: Raw): CallOwner => (item['execution'] === 'client' ? 'host' : 'provider'),
  },
  computer_call: { field: 'action', freeText: false, ownerOf: byHost },
  local_shell_call: { field: 'action', freeText: false, ownerOf: byHost },
  shell_call: {
    field: 'action',
    freeText: false,
    ownerOf: ({ environment }: Raw): CallOwner =>
      isRecord(environment) && identity(environment['type'])?.startsWith('container') === true ? 'provider' : 'host',
  },
  apply_patch_call: { field: 'operation', freeText: false, ownerOf: byHost },
} satisfies Record<string, CallKind>)

/** A call of a tool that is not known here: its provider's, whatever it is. */
const UNKNOWN: CallKind = { field: 'arguments', freeText: false, ownerOf: byProvider }

/** What this item type says about calls; undefined for items that are none. */
export function callKindOf(itemType: string): CallKind | undefined {
  return KINDS[itemType] ?? (itemType.endsWith('_call') ? UNKNOWN : undefined)
}

/** Name under which a call is shown: its own, or that of the built-in tool. */
export function callNameOf(item: Raw, itemType: string, owner: CallOwner): string | undefined {
  return nameText(item['name']) ?? (owner === 'caller' ? undefined : itemType.replace(/_call$/, ''))
}

/** The input of a call as its item states it. Undefined when it says nothing. */
export function inputOf(item: Raw, { field }: CallKind): unknown {
  const value = item[field]
  if (isNothing(value) || value === '') return undefined
  // Arguments are an object: a list of queries is given under its own name.
  return Array.isArray(value) && field !== 'arguments' ? { [field]: value } : value
}
