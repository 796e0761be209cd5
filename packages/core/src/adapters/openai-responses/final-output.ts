import { identity, isRecord } from '../wire-value.ts'
import type { OutputItem } from './item-table.ts'

type Raw = Readonly<Record<string, unknown>>

/** An item of the final response beside the streamed item that it restates, if there is one. */
export interface FinalItem {
  readonly at: number
  readonly raw: Raw
  readonly item: OutputItem | undefined
}

/**
 * Finds out which streamed item each item of `response.output` restates: by call id or item id, else by its place, else the first
 * one of the same type that is left (ids may change from event to event, fault F138, and items may be left out of either list). What
 * fits none came only here.
 */
export function matchOutput(items: readonly OutputItem[], output: readonly unknown[]): readonly FinalItem[] {
  const left = new Set(items)
  const byName = new Map<string, OutputItem>()
  for (const item of items) {
    const name = item.kind === 'call' && item.providerCallId !== undefined ? `call ${item.providerCallId}` : item.id
    if (name !== undefined && !byName.has(nameOf(item.type, name))) byName.set(nameOf(item.type, name), item)
  }
  const matched = new Map<number, OutputItem>()
  const records = output.flatMap((raw, at) => (isRecord(raw) ? [{ raw, at }] : []))
  const take = (raw: Raw, at: number, item: OutputItem | undefined): void => {
    if (item === undefined || item.type !== raw['type'] || matched.has(at) || !left.delete(item)) return
    matched.set(at, item)
  }
  for (const { raw, at } of records) {
    const type = String(identity(raw['type']))
    const callId = identity(raw['call_id'])
    const id = identity(raw['id'])
    if (callId !== undefined) take(raw, at, byName.get(nameOf(type, `call ${callId}`)))
    if (id !== undefined) take(raw, at, byName.get(nameOf(type, id)))
  }
  for (const { raw, at } of records) take(raw, at, items[at])
  const byType = new Map<unknown, OutputItem[]>()
  for (const item of [...left].reverse()) {
    const same = byType.get(item.type)
    if (same === undefined) byType.set(item.type, [item])
    else same.push(item)
  }
  for (const { raw, at } of records) if (!matched.has(at)) take(raw, at, byType.get(raw['type'])?.pop())
  return records.map(({ raw, at }) => ({ at, raw, item: matched.get(at) }))
}

function nameOf(type: string, id: string): string {
  return `${type}\n${id}`
}
