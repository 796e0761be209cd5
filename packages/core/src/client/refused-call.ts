import type { StreamEvent, ToolCallEvent } from '../chunk/stream-event.ts'

export type RefusedCall = Extract<ToolCallEvent, { readonly type: 'tool_call_held' | 'tool_call_failed' }>

/** A call that nobody may run. What the provider has run itself is held too, but nobody downstream is asked to run it. */
export function isRefused(event: StreamEvent): event is RefusedCall {
  return (event.type === 'tool_call_held' || event.type === 'tool_call_failed') && event.code !== 'provider_executed'
}
