import type { TextBlockType } from '../text-block.ts'

/** Which list of an item a part of text belongs to. */
export type PartList = 'content' | 'summary'

/** Text of one part: `response.output_text.delta` and its kin. */
export interface TextEvent {
  readonly kind: 'text-delta' | 'text-done'
  readonly block: TextBlockType
  readonly list: PartList
  /** Field of the `done` event, and of the part, that holds the whole text. */
  readonly field: 'text' | 'refusal'
}

/** Input of a call: `response.function_call_arguments.delta` and its kin. */
export interface InputEvent {
  readonly kind: 'input-delta' | 'input-done'
  readonly itemType: string
  readonly field: string
}

export type KnownEvent =
  | TextEvent
  | InputEvent
  | { readonly kind: 'part-added' | 'part-done'; readonly list: PartList }
  | { readonly kind: 'item-added' | 'item-done' | 'annotation' }
  | { readonly kind: 'lifecycle' }
  /** The response has ended, in the state that the event is named for. */
  | { readonly kind: 'end'; readonly status: string | undefined }
  /** Audio has no item of its own. */
  | { readonly kind: 'audio'; readonly key: string }
  /** Progress of a tool that its provider runs, and the like: its item tells all that matters. */
  | { readonly kind: 'progress' }

const table = new Map<string, KnownEvent>([
  ['response.created', { kind: 'lifecycle' }],
  ['response.queued', { kind: 'lifecycle' }],
  ['response.in_progress', { kind: 'lifecycle' }],
  ['response.completed', { kind: 'end', status: 'completed' }],
  ['response.incomplete', { kind: 'end', status: 'incomplete' }],
  ['response.failed', { kind: 'end', status: 'failed' }],
  ['response.cancelled', { kind: 'end', status: 'cancelled' }],
  // xAI's word for an end whose state stands in the response.
  ['response.done', { kind: 'end', status: undefined }],
  ['response.output_item.added', { kind: 'item-added' }],
  ['response.output_item.done', { kind: 'item-done' }],
  ['response.content_part.added', { kind: 'part-added', list: 'content' }],
  ['response.content_part.done', { kind: 'part-done', list: 'content' }],
  ['response.reasoning_summary_part.added', { kind: 'part-added', list: 'summary' }],
  ['response.reasoning_summary_part.done', { kind: 'part-done', list: 'summary' }],
  ['response.output_text.annotation.added', { kind: 'annotation' }],
  ['response.audio.delta', { kind: 'audio', key: 'audio' }],
  ['response.audio.transcript.delta', { kind: 'audio', key: 'audio_transcript' }],
])

text('response.output_text', 'text', 'content', 'text')
text('response.refusal', 'refusal', 'content', 'refusal')
text('response.reasoning_text', 'reasoning', 'content', 'text')
text('response.reasoning_summary_text', 'reasoning', 'summary', 'text')
input('response.function_call_arguments', 'function_call', 'arguments')
input('response.custom_tool_call_input', 'custom_tool_call', 'input')
input('response.mcp_call_arguments', 'mcp_call', 'arguments')
input('response.code_interpreter_call_code', 'code_interpreter_call', 'code')
progress('response.audio', 'done transcript.done')
progress('response.file_search_call', 'in_progress searching completed')
progress('response.web_search_call', 'in_progress searching completed')
progress('response.x_search_call', 'in_progress searching completed')
progress('response.code_interpreter_call', 'in_progress interpreting executing completed')
progress('response.code_execution_call', 'in_progress executing completed')
progress('response.image_generation_call', 'in_progress generating partial_image completed')
progress('response.mcp_call', 'in_progress executing completed failed')
progress('response.mcp_call_output', 'delta done')
progress('response.mcp_list_tools', 'in_progress completed failed')
progress('response.shell_call_command', 'added delta done')
progress('response.shell_call_output_content', 'delta done')
progress('response.apply_patch_call_operation_diff', 'delta done')
progress('response.compaction', 'compacting')

/** The events of the API by their `type`. What is not here is ignored and counted. */
export const EVENTS: ReadonlyMap<string, KnownEvent> = table

function text(family: string, block: TextBlockType, list: PartList, field: TextEvent['field']): void {
  table.set(`${family}.delta`, { kind: 'text-delta', block, list, field })
  table.set(`${family}.done`, { kind: 'text-done', block, list, field })
}

function input(family: string, itemType: string, field: string): void {
  table.set(`${family}.delta`, { kind: 'input-delta', itemType, field })
  table.set(`${family}.done`, { kind: 'input-done', itemType, field })
}

function progress(family: string, states: string): void {
  for (const state of states.split(' ')) table.set(`${family}.${state}`, { kind: 'progress' })
}
