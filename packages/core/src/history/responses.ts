import type { RequestMessage } from './request-message.ts'
import { SentInOrder } from './sent-in-order.ts'
import type { CallPart, Metadata, ProsePart, ProviderCallPart, Turn } from './turn.ts'
import { isRecord } from '../json/value.ts'

/**
 * The items of the turn in their order, then an output for each call. Items go back as they came, with their ids and encrypted
 * content. A reasoning item is refused without the item that followed it, so it goes only where that one goes.
 *
 * @see https://platform.openai.com/docs/guides/reasoning
 */
export function responsesInput(turn: Turn): readonly RequestMessage[] {
  const items = new SentInOrder(turn)
  let message: OpenMessage | undefined
  const send = (item: RequestMessage): void => {
    items.send(item)
    message = undefined
  }
  for (const part of turn.parts) {
    switch (part.kind) {
      case 'text':
      case 'refusal': {
        if (part.text === '') break
        const item = itemOf(part.metadata)
        if (item === undefined) items.lose()
        if (message === undefined || message.id !== item?.['id']) {
          const content: RequestMessage[] = []
          send({ ...(item ?? { type: 'message', role: 'assistant' }), content })
          message = { id: item?.['id'], content }
        }
        message.content.push(contentOf(part))
        break
      }
      case 'reasoning': {
        const item = itemOf(part.metadata)
        // The last block of an item has all of it.
        if (item !== undefined && part.whole) items.wait(part, item)
        else if (!hasItem(turn, part)) turn.drop(part.block, part.whole ? 'no_proof' : 'cut_off')
        break
      }
      case 'opaque': {
        const item = itemOf(part.metadata)
        if (item !== undefined) send(item)
        else {
          turn.drop(part.block, 'no_proof')
          items.lose()
        }
        break
      }
      case 'call':
        if (itemOf(part.metadata) === undefined) items.lose()
        send(callOf(part))
        break
      case 'provider-call': {
        const item = providerItem(part)
        if (typeof item !== 'string') send(item)
        else {
          turn.drop(part.block, item)
          items.lose()
        }
        break
      }
      case 'gap':
        items.lose()
        break
    }
  }
  items.lose()
  return [...items.sent, ...turn.calls.map(outputOf)]
}

interface OpenMessage {
  readonly id: unknown
  readonly content: RequestMessage[]
}

function itemOf({ item }: Metadata): Readonly<Record<string, unknown>> | undefined {
  return isRecord(item) ? item : undefined
}

/** Is there a later block of reasoning, with nothing in between, that has the item? */
function hasItem({ parts }: Turn, part: ProsePart): boolean {
  for (let i = parts.indexOf(part) + 1; i < parts.length; i++) {
    const next = parts[i]!
    if (next.kind !== 'reasoning') return false
    if (itemOf(next.metadata) !== undefined) return next.whole
  }
  return false
}

function contentOf({ kind, text, metadata }: ProsePart): RequestMessage {
  if (kind === 'refusal') return { type: 'refusal', refusal: text }
  const { annotations } = metadata
  return { type: 'output_text', text, annotations: Array.isArray(annotations) ? annotations : [] }
}

function callOf({ id, name, argumentsText, metadata, block }: CallPart): RequestMessage {
  const item = itemOf(metadata)
  return block.freeText === true
    ? { ...item, type: 'custom_tool_call', call_id: id, name, input: argumentsText }
    : { ...item, type: 'function_call', call_id: id, name, arguments: argumentsText }
}

function outputOf({ id, block, result }: CallPart): RequestMessage {
  const type = block.freeText === true ? 'custom_tool_call_output' : 'function_call_output'
  return { type, call_id: id, output: result.content }
}

function providerItem({ whole, metadata }: ProviderCallPart): RequestMessage | 'cut_off' | 'no_result' {
  const item = itemOf(metadata)
  if (!whole || item === undefined) return 'cut_off'
  return awaitsOutput(item) ? 'no_result' : item
}

/** Built-in calls that wait for an output of their own kind, which is no text: they can't be answered here. */
function awaitsOutput({ type, execution, environment }: Metadata): boolean {
  switch (type) {
    case 'computer_call':
    case 'local_shell_call':
    case 'apply_patch_call':
    case 'mcp_approval_request':
      return true
    case 'tool_search_call':
      return execution === 'client'
    case 'shell_call':
      return !isRecord(environment) || !String(environment['type']).startsWith('container')
    default:
      return false
  }
}
