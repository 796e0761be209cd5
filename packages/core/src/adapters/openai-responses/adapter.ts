import type { RequestFacts } from '../../chunk/request-facts.ts'
import { clip } from '../../json/clip.ts'
import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterContext, AdapterMachine, AdapterOutput, StreamAdapter } from '../adapter.ts'
import { checkCorruptEvent } from '../corrupt-event.ts'
import { faultOfPayload } from '../error-body.ts'
import type { FinishAliases } from '../finish-word.ts'
import type { PayloadHandlers } from '../payload.ts'
import type { ProviderProfile } from '../profile.ts'
import { ProviderFields } from '../provider-fields.ts'
import { readEvent, readUsageEvent } from '../read-event.ts'
import { spliced } from '../splice.ts'
import { startChunk } from '../start-chunk.ts'
import { identity, isNothing, isRecord } from '../wire-value.ts'
import { isCorruptInText } from './corrupt-text.ts'
import { EVENTS } from './event-table.ts'
import type { KnownEvent } from './event-table.ts'
import { finishOf, isUnderWay } from './finish.ts'
import type { ResponseFinish } from './finish.ts'
import { OutputReader } from './output-reader.ts'
import { SequenceCheck } from './sequence.ts'
import { SAMPLE } from './sample.ts'
import { usageOf } from './usage.ts'
import { EVENT_KEYS, RESPONSE_KEYS } from './wire.ts'

type Raw = Readonly<Record<string, unknown>>

/**
 * OpenAI Responses and the servers that speak it. Its own terminal events (`response.completed`, `.incomplete`, `.failed`) are finish
 * reason and terminal signal in one; `[DONE]` says nothing here (fault F144).
 *
 * @see https://platform.openai.com/docs/api-reference/responses-streaming
 */
export function responses(profile: ProviderProfile = {}): StreamAdapter {
  return {
    api: 'responses',
    terminator: 'stop-event',
    sentinel: profile.sentinel ?? 'required',
    finishReason: profile.finishReason ?? 'required',
    repairs: profile.repairs ?? [],
    sample: SAMPLE,
    open: (context) => new ResponsesMachine(profile, context),
  }
}

class ResponsesMachine implements AdapterMachine {
  ended = false
  wholeCompletion = false
  readonly #profile: ProviderProfile
  readonly #request: RequestFacts
  readonly #output: OutputReader
  readonly #sequence: SequenceCheck
  readonly #eventFields = new ProviderFields(EVENT_KEYS, false)
  readonly #responseFields = new ProviderFields(RESPONSE_KEYS, false)
  #opened = false
  #created = false
  #id: string | undefined
  #model: string | undefined
  /** Id and model as they were last said before any output: those of a failed attempt may have come first (fault F129). */
  #begun: { readonly id: string | undefined; readonly model: string | undefined } | undefined
  #tools: unknown
  #finish: ResponseFinish | undefined
  #doneSeen = false
  /** Bytes of the current event that are not UTF-8 stand in its text alone. */
  #corruptInText = false

  readonly #handlers: PayloadHandlers = {
    json: (value, event, out) => this.#payload(value, event, out),
    done: (out) => {
      // Nothing will follow it, but it is no end of this API: the wait is cut short, and the response is incomplete.
      this.#doneSeen = true
      out.note('unknown_event', '[DONE]')
    },
  }

  constructor(profile: ProviderProfile, context: AdapterContext) {
    this.#profile = profile
    this.#request = context.request
    const after = context.request.startingAfter
    this.#sequence = new SequenceCheck(after)
    this.#output = new OutputReader({
      maxCalls: context.limits.callsPerChoice,
      idSeed: context.idSeed,
      responseId: () => this.#id,
      declares: (name) => this.#declares(name),
      isResumed: () => after !== undefined && !this.#created,
    })
  }

  get choices(): Iterable<number> {
    return this.#opened ? [0] : []
  }

  get finished(): boolean {
    return this.#finish !== undefined || this.#doneSeen
  }

  get #aliases(): FinishAliases {
    return this.#profile.finishAliases ?? {}
  }

  push(event: ServerSentEvent, out: AdapterOutput): void {
    const before = out.chunks.length
    this.#corruptInText = false
    readEvent(event, this.#handlers, out)
    if (!this.#corruptInText) checkCorruptEvent(event, before, this.ended, out)
  }

  end(out: AdapterOutput): void {
    this.#output.flush(out)
    if (this.#finish === undefined) return
    const { reason, raw } = this.#finish
    out.chunks.push({ type: 'finish', reason, raw })
  }

  readUsageOnly(event: ServerSentEvent, out: AdapterOutput): void {
    readUsageEvent(event, (value) => this.#afterError(value, event, out), out)
  }

  #afterError(value: Raw, event: ServerSentEvent, out: AdapterOutput): void {
    const { response } = value
    if (!isRecord(response)) return
    this.#readUsage(response, out)
    const known = EVENTS.get(typeOf(value, event))
    if (known?.kind !== 'end') return
    const finish = finishOf(response, known.status, this.#output.hasCalls, this.#aliases)
    if (finish !== undefined) out.chunks.push({ type: 'finish', reason: finish.reason, raw: finish.raw })
  }

  #payload(value: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    const named = event.event === 'error'
    if (!isRecord(value)) {
      const error = faultOfPayload(value, named)
      if (error !== undefined) out.chunks.push({ type: 'error', error })
      else out.skipped.push({ message: 'the data of this event is not a JSON object, where an event was due' })
      return
    }
    if (event.invalidUtf8 === true) this.#corruptInText = isCorruptInText(value, event.data)
    const type = typeOf(value, event)
    const known = EVENTS.get(type)
    const whole = known === undefined && value['object'] === 'response'
    if (!whole && (named || known === undefined || !isNothing(value['error']))) {
      const error = faultOfPayload(value, named)
      if (error !== undefined) {
        out.chunks.push({ type: 'error', error })
        return
      }
    }
    if (typeof value['type'] === 'string' && event.event !== undefined && event.event !== value['type'])
      out.note('unexpected_field', `event: ${clip(event.event, 40)} for a ${clip(type, 60)}`)
    if (type === 'response.created' && this.#restarts(value, out)) return
    const isStart = type === 'response.created' || type === 'response.queued'
    if (this.#sequence.check(value, type, isStart, event.data, out) === 'ignore') return
    if (known === undefined) {
      if (whole && !this.#opened) this.#whole(value, event, out)
      else if (type === '' && CONTENT_KEYS.some((key) => key in value)) {
        out.skipped.push({ message: 'an event with content has no type' })
      } else out.note('unknown_event', type === '' ? undefined : clip(type, 60))
    } else this.#event(known, value, event, out)
  }

  #event(known: KnownEvent, value: Raw, event: ServerSentEvent, out: AdapterOutput): void {
    switch (known.kind) {
      case 'lifecycle':
        this.#lifecycle(value, out)
        return
      case 'end':
        this.#end(value, known.status, event, out)
        return
      case 'progress':
        return
      case 'audio': {
        const { delta } = value
        if (typeof delta === 'string')
          out.chunks.push({ type: 'metadata', choice: 0, append: { [known.key]: [delta] } })
        else out.note('unexpected_field', 'delta')
        return
      }
      case 'item-added':
      case 'item-done':
      case 'part-added':
      case 'part-done':
      case 'text-delta':
      case 'text-done':
      case 'input-delta':
      case 'input-done':
      case 'annotation':
        this.#begin(out)
        this.#output.read(known, value, event, out)
    }
  }

  /** A response that was not streamed, or that is fetched while it is still under way. */
  #whole(response: Raw, event: ServerSentEvent, out: AdapterOutput): void {
    out.note('downgraded_to_json')
    if (!this.#readResponse(response, out)) return
    if (isUnderWay(response['status'])) {
      this.#output.readFinal(response['output'], '/output', event, out)
      return
    }
    this.wholeCompletion = true
    this.#conclude(response, undefined, '', event, out)
  }

  #lifecycle(value: Raw, out: AdapterOutput): void {
    const { response } = value
    this.#eventFields.read(value, undefined, out)
    if (isRecord(response)) {
      if (this.#readResponse(response, out)) this.#failed(response, out)
    } else if (!isNothing(response)) out.note('unexpected_field', 'response')
  }

  #end(value: Raw, status: string | undefined, event: ServerSentEvent, out: AdapterOutput): void {
    const { response } = value
    this.#eventFields.read(value, undefined, out)
    if (isRecord(response)) {
      if (!this.#readResponse(response, out)) return
    } else if (isNothing(response)) out.note('unexpected_field', 'response')
    else out.skipped.push({ message: 'the final response is not an object' })
    this.#begin(out)
    this.#conclude(isRecord(response) ? response : {}, status, '/response', event, out)
    this.ended = true
  }

  #conclude(
    response: Raw,
    status: string | undefined,
    pointer: string,
    event: ServerSentEvent,
    out: AdapterOutput,
  ): void {
    this.#output.readFinal(response['output'], `${pointer}/output`, event, out)
    const finish = finishOf(response, status, this.#output.hasCalls, this.#aliases)
    this.#finish = finish
    // What the response says of an error counts more than its status.
    if (finish?.reason !== 'error' && this.#failed(response, out)) return
    if (finish === undefined) return
    if (finish.unknown !== undefined) out.note('unknown_finish_reason', JSON.stringify(clip(finish.unknown, 60)))
    if (status !== undefined && finish.raw !== status) {
      out.note('finish_reason_mismatch', `status "${clip(finish.raw, 60)}" in response.${status}`)
    }
    if (finish.reason !== 'error') return
    const said = response['error']
    const error = faultOfPayload({
      error: isNothing(said) ? 'the response failed, and its server does not say why' : said,
    })
    if (error !== undefined) out.chunks.push({ type: 'error', error })
  }

  /** Does the response itself name an error, whatever its state? */
  #failed(response: Raw, out: AdapterOutput): boolean {
    const said = response['error']
    if (isNothing(said) || (isRecord(said) && Object.keys(said).length === 0)) return false
    const error = faultOfPayload({ error: said })
    if (error !== undefined) out.chunks.push({ type: 'error', error })
    return error !== undefined
  }

  /** Id, model, usage and the provider's own fields, from whichever event has them. False when they are those of another response. */
  #readResponse(response: Raw, out: AdapterOutput): boolean {
    const id = identity(response['id'])
    const model = identity(response['model'])
    if (this.#output.isEmpty) this.#begun = { id: id ?? this.#begun?.id, model: model ?? this.#begun?.model }
    else if (differs(id, this.#begun?.id) && differs(model, this.#begun?.model)) {
      out.chunks.push({ type: 'error', error: spliced('responses', { id: this.#begun?.id }, { id }) })
      return false
    }
    if (id !== undefined && id !== this.#id) {
      if (this.#id === undefined) this.#id = id
      else out.note('response_id_changed')
    }
    this.#model ??= model
    this.#tools ??= response['tools']
    this.#begin(out)
    this.#responseFields.read(response, undefined, out)
    this.#readUsage(response, out)
    return true
  }

  /** Does the response, which repeats the request, list a tool of this name? True where that can't be told. */
  #declares(name: string): boolean {
    const tools = this.#tools
    if (this.#request.tools !== undefined || !Array.isArray(tools) || tools.length === 0) return true
    return (tools as readonly unknown[]).some(
      (tool) => !isRecord(tool) || tool['name'] === name || Array.isArray(tool['tools']),
    )
  }

  #readUsage(response: Raw, out: AdapterOutput): void {
    const { usage } = response
    if (isRecord(usage)) out.chunks.push({ type: 'usage', usage: usageOf(usage) })
    else if (!isNothing(usage)) out.note('unexpected_field', 'usage')
  }

  /** The response begins with its first lifecycle event or, where a server leaves those out, with its first item. */
  #begin(out: AdapterOutput): void {
    if (this.#opened) return
    this.#opened = true
    out.chunks.push(startChunk(this.#id, this.#model))
  }

  /** A second `response.created`: another generation in one stream. True when the stream can't go on. */
  #restarts(value: Raw, out: AdapterOutput): boolean {
    const { response } = value
    const id = isRecord(response) ? identity(response['id']) : undefined
    const again = this.#created
    this.#created = true
    if (!again || id === undefined || this.#id === undefined || id === this.#id) return false
    if (!this.#output.isEmpty) {
      out.chunks.push({ type: 'error', error: spliced('responses', { id: this.#id }, { id }) })
      return true
    }
    // Nothing was said yet: the frames of an attempt that failed leaked before those of the next (fault F129).
    out.note('splice_suspected')
    this.#sequence.reset()
    return false
  }
}

function differs(now: string | undefined, before: string | undefined): boolean {
  return now !== undefined && before !== undefined && now !== before
}

/** An event that has one of these says something of the output, or that there will be none. */
const CONTENT_KEYS = ['delta', 'item', 'part', 'response', 'output_index', 'arguments', 'input', 'message'] as const

/** `type` decides; a relay that drops it may still have named the event. */
function typeOf(value: Raw, event: ServerSentEvent): string {
  return typeof value['type'] === 'string' ? value['type'] : (event.event ?? '')
}
