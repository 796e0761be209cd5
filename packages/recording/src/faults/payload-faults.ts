import type { Api, JsonValue } from 'streamfold'
import { isJsonObject, readStrict } from 'streamfold/json'
import type { ReplayScript } from '../replay/replay-script.ts'
import { editBody } from './edit-body.ts'
import type { BodyEdit } from './edit-body.ts'
import { unitData, withData } from './event-data.ts'
import type { FaultDefinition } from './fault-definition.ts'
import { NotApplicable } from './fault-target.ts'
import type { FaultTarget } from './fault-target.ts'

/** Changes a payload in place; true where it did. One object lives for one stream. */
type Change = (payload: Mutable) => boolean
type Mutable = { [key: string]: JsonValue | Mutable }

/** What servers do to the fields of their events. */
export const PAYLOAD_FAULTS: readonly FaultDefinition[] = [
  {
    name: 'id-empty',
    about: 'fragments that continue a call carry an empty id',
    faults: ['F068'],
    calls: 'same-or-none',
    apply: (target) =>
      changeEvents(target, {
        chat_completions: () => forChatCalls((call) => (call['id'] === undefined ? set(call, 'id', '') : false)),
        anthropic_messages: () => (payload) => {
          const block = child(payload, 'content_block')
          return block?.['type'] === 'tool_use' ? set(block, 'id', '') : false
        },
      }),
  },
  {
    name: 'id-missing',
    about: 'no call has an id',
    faults: ['F076'],
    calls: 'same-or-unproven',
    apply: (target) => changeEvents(target, { chat_completions: () => forChatCalls((call) => drop(call, 'id')) }),
  },
  {
    name: 'index-missing',
    about: 'fragments do not say which call or block they belong to',
    faults: ['F064'],
    calls: 'same-or-unproven',
    apply: (target) =>
      changeEvents(target, {
        chat_completions: () => forChatCalls((call) => drop(call, 'index')),
        anthropic_messages: () => (payload) => drop(payload, 'index'),
        responses: () => (payload) => drop(payload, 'output_index'),
      }),
  },
  {
    name: 'index-zero',
    about: 'every call has index 0; only ids tell them apart',
    faults: ['F065'],
    calls: 'same-or-unproven',
    apply: (target) =>
      changeEvents(target, {
        chat_completions: () => forChatCalls((call) => (call['index'] === 0 ? false : set(call, 'index', 0))),
      }),
  },
  {
    name: 'args-object',
    about: 'arguments are an object, where text is due',
    faults: ['F038'],
    calls: 'same-or-none',
    apply: (target) => changeEvents(target, { chat_completions: () => argumentsAsObjects(target) }),
  },
  {
    name: 'args-cumulative',
    about: 'every fragment repeats all arguments so far',
    faults: ['F039'],
    calls: 'same-or-none',
    apply: (target) =>
      changeEvents(target, {
        chat_completions: () => {
          const sums = new Map<string, string>()
          return forChatCalls((call, key) => {
            const definition = child(call, 'function')
            const text = definition?.['arguments']
            if (definition === undefined || typeof text !== 'string') return false
            const sum = (sums.get(key) ?? '') + text
            sums.set(key, sum)
            return sum === text ? false : set(definition, 'arguments', sum)
          })
        },
      }),
  },
  {
    name: 'finish-length',
    about: 'the answer ends at the token limit',
    faults: ['F093', 'F164'],
    calls: 'same-or-none',
    apply: (target) =>
      changeEvents(target, {
        chat_completions: () => forChoices('finish_reason', 'length'),
        completions: () => forChoices('finish_reason', 'length'),
        anthropic_messages: () => (payload) => replaceReason(child(payload, 'delta'), 'stop_reason', 'max_tokens'),
        gemini: () => forItems('candidates', (candidate) => replaceReason(candidate, 'finishReason', 'MAX_TOKENS')),
        ollama: () => (payload) => replaceReason(payload, 'done_reason', 'length'),
        cohere: () => (payload) => replaceReason(child(payload, 'delta'), 'finish_reason', 'MAX_TOKENS'),
        responses: () => (payload) => {
          const response = child(payload, 'response')
          if (payload['type'] !== 'response.completed' || response === undefined) return false
          set(response, 'incomplete_details', { reason: 'max_output_tokens' })
          set(response, 'status', 'incomplete')
          return set(payload, 'type', 'response.incomplete')
        },
      }),
  },
  {
    name: 'sequence-gap',
    about: 'sequence numbers jump, as if an event had been lost',
    faults: ['F152'],
    calls: 'same-or-none',
    apply: (target) => {
      const from = target.unit()
      return changeEvents(
        target,
        {
          responses: () => (payload) => {
            const number = payload['sequence_number']
            return typeof number === 'number' ? set(payload, 'sequence_number', number + 1) : false
          },
        },
        from,
      )
    },
  },
]

/** Rewrites the events that a change touches; all others keep their bytes. */
function changeEvents(
  target: FaultTarget,
  changes: Readonly<Partial<Record<Api, () => Change>>>,
  from = 0,
): ReplayScript {
  const change = changes[target.api]?.()
  if (change === undefined) throw new NotApplicable(`${target.api} has no such field`)
  const edits: BodyEdit[] = []
  for (let i = from; i < target.units.length; i++) {
    const bytes = target.bytesOf(i)
    const payload = parse(unitData(target.framing, bytes))
    if (payload === undefined || !change(payload)) continue
    edits.push({ ...target.units[i]!, bytes: withData(target.framing, bytes, JSON.stringify(payload)) })
  }
  if (edits.length === 0) throw new NotApplicable('no event of the stream has the field')
  return editBody(target.script, edits)
}

/** A payload that can be written down again without a loss: no key twice, no number that would be rounded, no broken character. */
function parse(data: string | undefined): Mutable | undefined {
  if (data === undefined || data.includes('\ufffd')) return undefined
  const result = readStrict(data)
  if (!result.ok || result.issues.length > 0 || !isJsonObject(result.value)) return undefined
  return JSON.parse(data) as Mutable
}

/** All calls of all choices; the key tells calls of different choices and indexes apart. */
function forChatCalls(change: (call: Mutable, key: string) => boolean): Change {
  const all = forItems('choices', (choice, at) => {
    const delta = child(choice, 'delta')
    if (delta === undefined) return false
    const prefix = `${JSON.stringify(choice['index'] ?? at)} `
    return forItems('tool_calls', (call, place) =>
      change(call, prefix + JSON.stringify(call['index'] ?? call['id'] ?? place)),
    )(delta)
  })
  return all
}

function forChoices(field: string, reason: string): Change {
  return forItems('choices', (choice) => replaceReason(choice, field, reason))
}

function forItems(name: string, change: (item: Mutable, place: number) => boolean): Change {
  return (payload) => {
    const items = payload[name]
    if (!Array.isArray(items)) return false
    let changed = false
    for (const [place, item] of (items as readonly JsonValue[]).entries()) {
      if (isJsonObject(item) && change(item, place)) changed = true
    }
    return changed
  }
}

/** Only a reason that is there is replaced: `null` and `''` say that there is none yet. */
function replaceReason(holder: Mutable | undefined, field: string, reason: string): boolean {
  const old = holder?.[field]
  return holder !== undefined && typeof old === 'string' && old !== '' && set(holder, field, reason)
}

/** The first fragment of each call gets the whole arguments as an object, the others get none. */
function argumentsAsObjects(target: FaultTarget): Change {
  const sums = new Map<string, string>()
  const collect = forChatCalls((call, key) => {
    const text = child(call, 'function')?.['arguments']
    if (typeof text === 'string') sums.set(key, (sums.get(key) ?? '') + text)
    return false
  })
  for (let i = 0; i < target.units.length; i++) {
    const payload = parse(unitData(target.framing, target.bytesOf(i)))
    if (payload !== undefined) collect(payload)
  }
  const given = new Set<string>()
  return forChatCalls((call, key) => {
    const definition = child(call, 'function')
    const whole = parse(sums.get(key))
    if (definition === undefined || whole === undefined || typeof definition['arguments'] !== 'string') return false
    if (given.has(key)) return set(definition, 'arguments', '')
    given.add(key)
    return set(definition, 'arguments', whole)
  })
}

function child(holder: Mutable, name: string): Mutable | undefined {
  const value = Object.hasOwn(holder, name) ? holder[name] : undefined
  return value !== undefined && isJsonObject(value) ? value : undefined
}

function set(holder: Mutable, name: string, value: JsonValue): true {
  holder[name] = value
  return true
}

function drop(holder: Mutable, name: string): boolean {
  if (!Object.hasOwn(holder, name)) return false
  delete holder[name]
  return true
}
