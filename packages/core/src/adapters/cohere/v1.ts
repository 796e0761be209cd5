import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterOutput } from '../adapter.ts'
import { argumentsOfCall } from '../stated-twice.ts'
import { identity, isNothing, isRecord, nameText } from '../wire-value.ts'
import type { CohereMessage } from './message.ts'

/**
 * An event of version 1 of the API (`event_type`, one JSON object per line), which older clients still ask for. Its calls come
 * whole; the pieces of them that come before are for showing only, and are not read. Returns true at the end of the stream.
 *
 * @see https://docs.cohere.com/v1/reference/chat-stream
 */
export function readV1(
  raw: Record<string, unknown>,
  message: CohereMessage,
  event: ServerSentEvent,
  out: AdapterOutput,
): boolean {
  switch (raw['event_type']) {
    case 'stream-start':
      message.begin(identity(raw['generation_id']), 'stream-start', out)
      return false
    case 'text-generation':
      message.start(undefined, out)
      if (typeof raw['text'] === 'string') message.blocks.text('text', raw['text'], out)
      else out.skipped.push({ message: 'a text-generation event has no text' })
      return false
    case 'tool-calls-generation':
      message.start(undefined, out)
      readCalls(raw['tool_calls'], message, event, out)
      return false
    case 'citation-generation':
      message.keep('citations', raw['citations'], out)
      return false
    case 'search-queries-generation':
      message.keep('search_queries', raw['search_queries'], out)
      return false
    case 'search-results':
      message.keep('search_results', raw['search_results'], out)
      message.keep('documents', raw['documents'], out)
      return false
    case 'tool-calls-chunk':
      return false
    case 'stream-end': {
      const { response } = raw
      if (isRecord(response)) message.usage(response['meta'], out)
      message.finish(raw['finish_reason'], out)
      return true
    }
    default:
      out.note('unknown_event', String(raw['event_type']).slice(0, 60))
      return false
  }
}

function readCalls(list: unknown, message: CohereMessage, event: ServerSentEvent, out: AdapterOutput): void {
  if (isNothing(list)) return
  if (!Array.isArray(list)) {
    out.skipped.push({ message: 'the tool_calls of an event are not a list' })
    return
  }
  for (const [i, raw] of (list as readonly unknown[]).entries()) {
    const value = isRecord(raw) ? argumentsOfCall(raw['parameters'], { event, pointer: `/tool_calls/${i}` }) : undefined
    if (!isRecord(raw) || value === undefined) {
      out.skipped.push({ message: 'an element of tool_calls is not a call' })
      continue
    }
    const name = nameText(raw['name'])
    const call = message.wholeCalls.open({ name, invalidUtf8: event.invalidUtf8 === true }, out)
    if (call === undefined) return
    const { text, unsafe } = value
    call.write({ argumentsDelta: text, ...(unsafe !== undefined && { unsafeArguments: unsafe }) }, out)
    call.end(out)
  }
}
