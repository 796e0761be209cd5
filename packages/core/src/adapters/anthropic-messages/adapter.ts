import { permitsToolCalls } from '../../chunk/finish-reason.ts'
import type { FinishReason } from '../../chunk/finish-reason.ts'
import { clip } from '../../json/clip.ts'
import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterContext, AdapterMachine, AdapterOutput, StreamAdapter } from '../adapter.ts'
import { CallIds } from '../call-id.ts'
import { checkCorruptEvent } from '../corrupt-event.ts'
import { faultOfPayload } from '../error-body.ts'
import type { PayloadHandlers } from '../payload.ts'
import type { ProviderProfile } from '../profile.ts'
import { ProviderFields } from '../provider-fields.ts'
import { spliced } from '../splice.ts'
import { startChunk } from '../start-chunk.ts'
import { identity, isRecord } from '../wire-value.ts'
import { MessageContent } from './content.ts'
import { DeltaTemplate } from './delta-template.ts'
import { SAMPLE } from './sample.ts'
import { stopReasonOf } from './stop-reason.ts'
import { MessageUsage, saysNothing } from './usage.ts'
import { DELTA_KEYS, EVENT_KEYS, MESSAGE_KEYS } from './wire.ts'
import { tooManyCalls } from '../limit-fault.ts'
import { readFinishWord } from '../finish-word.ts'
import { readEvent, readUsageEvent } from '../read-event.ts'

/**
 * Anthropic Messages, and the servers and clouds that speak it: with or without `event:` lines, and in the binary framing of Amazon
 * Bedrock. Content blocks are found by their index, and a message is over at `message_stop`.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/streaming
 */
export function anthropicMessages(profile: ProviderProfile = {}, options: MessagesAdapterOptions = {}): StreamAdapter {
  return {
    api: 'anthropic_messages',
    terminator: 'stop-event',
    sentinel: profile.sentinel ?? 'required',
    finishReason: profile.finishReason ?? 'required',
    repairs: profile.repairs ?? [],
    sample: SAMPLE,
    open: (context) => new MessageMachine(profile, context, options.template ?? true),
  }
}

export interface MessagesAdapterOptions {
  /** Read events that only differ in their delta by what is the same in them. Changes nothing but the time. Default true. */
  readonly template?: boolean
}

type Payload = Readonly<Record<string, unknown>>

class MessageMachine implements AdapterMachine {
  ended = false
  wholeCompletion = false
  readonly #profile: ProviderProfile
  readonly #context: AdapterContext
  readonly #content: MessageContent
  readonly #usage = new MessageUsage()
  readonly #template: DeltaTemplate | undefined
  readonly #eventFields = new ProviderFields(EVENT_KEYS, false)
  readonly #messageFields = new ProviderFields(MESSAGE_KEYS, false)
  readonly #deltaFields = new ProviderFields(DELTA_KEYS, false)
  #started = false
  /** What follows is of another message, its counters too. */
  #spliced = false
  #id: string | undefined
  #model: string | undefined
  /** Set by the first stop reason; provisional until the wire's end. */
  #finish: { readonly reason: FinishReason; readonly raw: string } | undefined

  readonly #handlers: PayloadHandlers = {
    json: (value, event, out) => this.#payload(value, event, out),
    // Some servers append the sentinel of another API. It proves nothing here (fault F168).
    done: (out) => out.note('unknown_event', '[DONE]'),
  }

  constructor(profile: ProviderProfile, context: AdapterContext, template: boolean) {
    this.#template = template ? new DeltaTemplate() : undefined
    this.#profile = profile
    this.#context = context
    this.#content = new MessageContent({
      maxCalls: context.limits.callsPerChoice,
      idChange: profile.idChange ?? 'conflict',
      ids: new CallIds(context.idSeed),
      messageId: () => this.#id,
      isFinished: () => this.#finish !== undefined,
    })
  }

  get choices(): Iterable<number> {
    return this.#started ? [0] : []
  }

  get finished(): boolean {
    return this.#finish !== undefined
  }

  push(event: ServerSentEvent, out: AdapterOutput): void {
    const before = out.chunks.length
    const template = this.#template
    const delta = template?.match(event)
    if (delta !== undefined) this.#content.delta(template!.index, delta, event, out)
    else readEvent(event, this.#handlers, out)
    checkCorruptEvent(event, before, this.ended, out)
  }

  end(out: AdapterOutput): void {
    this.#content.end(this.ended || this.wholeCompletion, out)
    if (this.#finish !== undefined) out.chunks.push({ type: 'finish', ...this.#finish })
  }

  readUsageOnly(event: ServerSentEvent, out: AdapterOutput): void {
    if (!this.#spliced)
      readUsageEvent(
        event,
        ({ message, usage }) => this.#readUsage(isRecord(message) ? message['usage'] : usage, out),
        out,
      )
  }

  #payload(value: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    const error = faultOfPayload(value, event.event === 'error')
    if (!isRecord(value)) {
      if (error !== undefined) out.chunks.push({ type: 'error', error })
      else out.skipped.push({ message: 'the data of this event is not a JSON object, where an event was due' })
      return
    }
    if (this.ended) return
    // The name is a copy of the type, and the first thing that a hop loses (fault F190).
    const said = value['type']
    const type = (typeof said === 'string' ? identity(said) : undefined) ?? event.event ?? ''
    if (error === undefined || type !== 'error') this.#read(type, value, event, error !== undefined, out)
    if (error === undefined) return
    this.#eventFields.read(value, undefined, out)
    out.chunks.push({ type: 'error', error })
  }

  #read(type: string, value: Payload, event: ServerSentEvent, failed: boolean, out: AdapterOutput): void {
    switch (type) {
      case 'content_block_delta':
        this.#begin(out)
        this.#content.delta(value['index'], value['delta'], event, out)
        if (!failed && value['type'] === type) this.#template?.learn(event.data, value['index'])
        break
      case 'content_block_start':
        this.#begin(out)
        this.#startBlock(value['index'], value['content_block'], event, out)
        break
      case 'content_block_stop':
        this.#content.stop(value['index'], out)
        break
      case 'message_start':
        this.#startMessage(value['message'], event, out)
        this.#eventFields.read(value, undefined, out)
        break
      case 'message_delta':
        this.#messageDelta(value, out)
        break
      case 'message_stop':
        this.#eventFields.read(value, undefined, out)
        this.#begin(out)
        this.ended = true
        break
      case 'message':
        this.#wholeMessage(value, event, out)
        break
      case 'ping':
        break
      default:
        if (failed) return
        if (type === '' && UNTYPED_KEYS.some((key) => key in value)) {
          out.skipped.push({ message: 'an event with content has no type' })
        } else out.note('unknown_event', clip(type, 60))
    }
  }

  #startMessage(message: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    if (message !== undefined && message !== null && !isRecord(message)) {
      out.skipped.push({ message: 'the message that starts here is not an object' })
      return
    }
    const fields = isRecord(message) ? message : {}
    const id = identity(fields['id'])
    if (this.#started) {
      if (this.#content.begun || this.#finish !== undefined) {
        this.#splice(id, identity(fields['model']), out)
        return
      }
      // A hop failed over before anything was said, and let the first server's frames through (fault F129).
      out.note('response_id_changed', 'message_start came twice')
      this.#content.restart(out)
    } else this.#begin(out, fields)
    this.#messageFields.read(fields, undefined, out)
    // A turn that goes on inside a tool of the provider is answered without streaming: all of it is in the start.
    if (!this.#wholeContent(fields['content'], event, out)) return
    this.#readUsage(fields['usage'], out)
    this.#stopReason(fields['stop_reason'], out)
  }

  #splice(id: string | undefined, model: string | undefined, out: AdapterOutput): void {
    this.#spliced = true
    const before = { id: this.#id, model: this.#model }
    out.chunks.push({ type: 'error', error: spliced('messages', before, { id, model }) })
  }

  /** The response has begun, whether or not it said so. */
  #begin(out: AdapterOutput, message: Payload = {}): void {
    if (this.#started) return
    this.#started = true
    this.#id = identity(message['id'])
    this.#model = identity(message['model'])
    out.chunks.push(startChunk(this.#id, this.#model))
  }

  /** Returns false when a limit was hit and the rest must not be read. */
  #startBlock(index: unknown, block: unknown, event: ServerSentEvent, out: AdapterOutput): boolean {
    if (this.#content.start(index, block, event, out)) return true
    out.chunks.push(tooManyCalls(0, this.#context.limits.callsPerChoice))
    return false
  }

  #messageDelta(value: Payload, out: AdapterOutput): void {
    this.#begin(out)
    const { delta } = value
    if (isRecord(delta)) this.#deltaFields.read(delta, undefined, out)
    else if (delta !== undefined && delta !== null)
      out.skipped.push({ message: 'the delta of a message is not an object' })
    this.#eventFields.read(value, undefined, out)
    this.#readUsage(value['usage'], out)
    if (isRecord(delta)) this.#stopReason(delta['stop_reason'], out)
  }

  #stopReason(raw: unknown, out: AdapterOutput): void {
    const word = readFinishWord(raw, (text) => stopReasonOf(text, this.#profile.finishAliases ?? {}), out)
    if (word === undefined) return
    const before = this.#finish
    if (before !== undefined && before.reason !== word.reason) {
      out.note('finish_reason_mismatch', `${quote(before.raw)} was followed by ${quote(word.raw)}`)
    }
    // A bad end is not taken back by a good one.
    if (before !== undefined && !permitsToolCalls(before.reason) && permitsToolCalls(word.reason)) return
    this.#finish = word
    if (permitsToolCalls(word.reason)) this.#content.closeLate(out)
  }

  /** The body is one whole message, which nobody streamed. */
  #wholeMessage(message: Payload, event: ServerSentEvent, out: AdapterOutput): void {
    if (this.#content.begun || this.#finish !== undefined) {
      out.note('unknown_event', 'message')
      return
    }
    this.wholeCompletion = true
    out.note('downgraded_to_json')
    this.#begin(out, message)
    this.#messageFields.read(message, undefined, out)
    if (!this.#wholeContent(message['content'], event, out)) return
    this.#readUsage(message['usage'], out)
    this.#stopReason(message['stop_reason'], out)
  }

  /** Returns false when a limit was hit and the rest must not be read. */
  #wholeContent(content: unknown, event: ServerSentEvent, out: AdapterOutput): boolean {
    if (typeof content === 'string') return this.#wholeContent([{ type: 'text', text: content }], event, out)
    if (Array.isArray(content)) {
      for (let i = 0; i < content.length; i++) {
        if (!this.#startBlock(i, content[i], event, out)) return false
        if (isRecord(content[i])) this.#content.stop(i, out)
      }
    } else if (content !== undefined && content !== null) {
      out.skipped.push({ message: 'the content of the message is no array' })
    }
    return true
  }

  #readUsage(counters: unknown, out: AdapterOutput): void {
    if (!isRecord(counters)) {
      if (counters !== undefined && counters !== null) out.note('unexpected_field', 'usage')
      return
    }
    const before = this.#usage.outputTokens
    if (before > 0 && saysNothing(counters)) {
      out.note('usage_decreased')
      return
    }
    if (!this.#usage.overlay(counters)) out.note('unexpected_field', 'more counters in usage than are kept')
    if (this.#usage.outputTokens < before) out.note('usage_decreased')
    out.chunks.push({ type: 'usage', usage: this.#usage.tokens })
  }
}

/** An event that has one of these says something of the message, or that there will be none. */
const UNTYPED_KEYS = ['delta', 'content_block', 'index', 'message'] as const

function quote(text: string | undefined): string {
  return `"${clip(text ?? '', 80)}"`
}
