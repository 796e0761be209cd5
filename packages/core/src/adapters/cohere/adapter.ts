import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterContext, AdapterMachine, AdapterOutput, StreamAdapter } from '../adapter.ts'
import type { BlockKey } from '../choice-blocks.ts'
import { checkCorruptEvent } from '../corrupt-event.ts'
import { faultOfPayload } from '../error-body.ts'
import type { PayloadHandlers } from '../payload.ts'
import type { ProviderProfile } from '../profile.ts'
import { statedTwice } from '../stated-twice.ts'
import { blockKey, identity, isNothing, isRecord, nameText } from '../wire-value.ts'
import { CohereMessage } from './message.ts'
import { readV1 } from './v1.ts'
import { readEvent, readUsageEvent } from '../read-event.ts'

/**
 * Cohere's `/v2/chat`: events with a type, text and calls under an index, `message-end` at the end. The JSON lines of version 1
 * are read too.
 *
 * @see https://docs.cohere.com/reference/chat-stream
 */
export function cohere(profile: ProviderProfile = {}): StreamAdapter {
  return {
    api: 'cohere',
    terminator: 'stop-event',
    sentinel: profile.sentinel ?? 'required',
    finishReason: profile.finishReason ?? 'required',
    repairs: profile.repairs ?? [],
    open: (context) => new CohereMachine(profile, context),
  }
}

type Fields = Record<string, unknown>
type Key = BlockKey | undefined

class CohereMachine implements AdapterMachine {
  ended = false
  readonly finished = false
  readonly wholeCompletion = false
  readonly #message: CohereMessage
  /** Indexes whose text is open, with its kind: a delta need not say which. */
  readonly #content = new Map<BlockKey, 'text' | 'reasoning'>()

  readonly #handlers: PayloadHandlers = {
    json: (value, event, out) => this.#payload(value, event, out),
    done: () => {
      this.ended = true
    },
  }

  constructor(profile: ProviderProfile, context: AdapterContext) {
    this.#message = new CohereMessage(profile.finishAliases ?? {}, context)
  }

  get choices(): Iterable<number> {
    return this.#message.started ? [0] : []
  }

  push(event: ServerSentEvent, out: AdapterOutput): void {
    const before = out.chunks.length
    readEvent(event, this.#handlers, out)
    checkCorruptEvent(event, before, this.ended, out)
  }

  end(out: AdapterOutput): void {
    this.#message.end(out)
  }

  readUsageOnly(event: ServerSentEvent, out: AdapterOutput): void {
    readUsageEvent(
      event,
      ({ delta }) => {
        if (isRecord(delta)) this.#message.usage(delta['usage'], out)
      },
      out,
    )
  }

  #payload(value: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    const error =
      isRecord(value) && isTyped(value, event.event)
        ? faultOfTyped(value)
        : faultOfPayload(value, event.event === 'error' || (isRecord(value) && typeof value['message'] === 'string'))
    if (error !== undefined) {
      out.chunks.push({ type: 'error', error })
      return
    }
    if (!isRecord(value)) {
      out.skipped.push({ message: 'the data of this event is not a JSON object' })
      return
    }
    if (typeof value['event_type'] === 'string') {
      if (readV1(value, this.#message, event, out)) this.ended = true
      return
    }
    // A hop that drops the type leaves the name of the event (fault F190 the other way round).
    const said = value['type']
    const type = (typeof said === 'string' ? identity(said) : undefined) ?? event.event
    this.#event(type, value, event, out)
  }

  #event(type: string | undefined, raw: Fields, event: ServerSentEvent, out: AdapterOutput): void {
    const delta = record(raw['delta'])
    const message = record(delta['message'])
    const key = blockKey(raw['index'])
    if (key === null) {
      out.skipped.push({ message: 'the index of an event is neither a number nor a text' })
      return
    }
    switch (type ?? '') {
      case 'message-start':
        this.#message.begin(identity(raw['id']), 'message-start', out)
        break
      case 'content-start':
        this.#text(key, message['content'], true, out)
        break
      case 'content-delta':
        this.#text(key, message['content'], false, out)
        break
      case 'content-end':
        this.#endText(key, out)
        break
      case 'tool-plan-delta':
        this.#message.start(undefined, out)
        this.#write('reasoning', message['tool_plan'], 'tool plan', out)
        break
      case 'tool-call-start':
        this.#startCall(key, message['tool_calls'], event, out)
        break
      case 'tool-call-delta':
        this.#callDelta(key, message['tool_calls'], event, out)
        break
      case 'tool-call-end':
        if (!this.#message.calls.end(key, out))
          out.skipped.push({ message: 'the end of a call came that was never opened' })
        break
      case 'citation-start':
        this.#message.keep('citations', message['citations'], out)
        break
      case 'message-end':
        this.#message.start(undefined, out)
        this.#message.usage(delta['usage'], out)
        this.#message.finish(delta['finish_reason'], out)
        this.ended = true
        break
      case 'citation-end':
      case 'debug':
        break
      case '':
        // It may have been a piece of a call.
        out.skipped.push({ message: 'an event has no type' })
        break
      default:
        out.note('unknown_event', type)
    }
  }

  #text(key: Key, content: unknown, start: boolean, out: AdapterOutput): void {
    this.#message.start(undefined, out)
    if (!isRecord(content)) {
      // A start need not say anything; a delta that says nothing that can be read has lost something.
      if (!start || !isNothing(content)) out.skipped.push({ message: 'the content of an event is not an object' })
      return
    }
    const { text, thinking } = content
    const said =
      !isNothing(thinking) || content['type'] === 'thinking' ? 'reasoning' : isNothing(text) ? undefined : 'text'
    const known = key === undefined ? undefined : this.#content.get(key)
    const type = said ?? known ?? 'text'
    if (key !== undefined) this.#content.set(key, type)
    this.#write(type, type === 'reasoning' ? thinking : text, 'content', out, key)
  }

  #write(type: 'text' | 'reasoning', text: unknown, what: string, out: AdapterOutput, key?: Key): void {
    if (typeof text === 'string') this.#message.blocks.text(type, text, out, key)
    else if (!isNothing(text)) out.skipped.push({ message: `the ${what} of an event is not a string` })
  }

  #endText(key: Key, out: AdapterOutput): void {
    this.#message.blocks.endText(out, key)
    if (key !== undefined) this.#content.delete(key)
  }

  #startCall(key: Key, stated: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    this.#message.start(undefined, out)
    const call = callOf(stated)
    if (call === undefined) {
      out.skipped.push({ message: 'the start of a call does not say which' })
      return
    }
    const body = record(call['function'])
    const identified = {
      id: identity(call['id']),
      name: nameText(body['name']),
      unsafe: statedTwice(event, CALL_START),
    }
    if (this.#message.calls.start(key, identified, out)) this.#arguments(key, body['arguments'], event, out)
  }

  #callDelta(key: Key, stated: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    const body = callOf(stated)?.['function']
    // `null` says nothing, but a piece that is not there was lost.
    if (!isRecord(body) || body['arguments'] === undefined)
      out.skipped.push({ message: "a piece of a call can't be read" })
    else this.#arguments(key, body['arguments'], event, out)
  }

  #arguments(key: Key, text: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    if (typeof text === 'string') this.#message.calls.append(key, text, event, out)
    else if (!isNothing(text)) out.skipped.push({ message: 'the arguments of a call are not a string' })
  }
}

/** What the start of a call says of it. */
const CALL_START = ['/type', '/index', '/delta/message/tool_calls'] as const

function isTyped(value: Fields, name: string | undefined): boolean {
  return name !== 'error' && (typeof value['type'] === 'string' || typeof value['event_type'] === 'string')
}

/**
 * The error of an event that has a type of its own: only one that says so in so many words, for any may have a message. A message
 * that broke off says why in its last event.
 */
function faultOfTyped(value: Fields): ReturnType<typeof faultOfPayload> {
  const { error } = record(value['delta'])
  if (!isNothing(error) && error !== '') return faultOfPayload({ error })
  if (value['type'] === 'error' || value['event_type'] === 'error') return faultOfPayload(value, true)
  return isNothing(value['error']) ? undefined : faultOfPayload(value)
}

/** One object; some relays put it in a list. */
function callOf(stated: unknown): Fields | undefined {
  const call: unknown = Array.isArray(stated) && stated.length === 1 ? stated[0] : stated
  return isRecord(call) ? call : undefined
}

function record(value: unknown): Fields {
  return isRecord(value) ? value : {}
}
