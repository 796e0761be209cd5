import type { StreamChunk } from '../../chunk/chunk.ts'
import type { TokenUsage } from '../../chunk/usage.ts'
import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterContext, AdapterMachine, AdapterOutput, StreamAdapter } from '../adapter.ts'
import { CallIds } from '../call-id.ts'
import { checkCorruptEvent } from '../corrupt-event.ts'
import { faultOfPayload } from '../error-body.ts'
import { printed } from '../kept-value.ts'
import type { PayloadHandlers } from '../payload.ts'
import type { ProviderProfile } from '../profile.ts'
import { ProviderFields } from '../provider-fields.ts'
import { spliced } from '../splice.ts'
import { startChunk } from '../start-chunk.ts'
import { choiceIndex, identity, isNothing, isRecord } from '../wire-value.ts'
import { Candidate } from './candidate.ts'
import { isUnspecified } from './finish-reason.ts'
import { SAMPLE } from './sample.ts'
import { unframedJson } from './unframed.ts'
import { usageOf } from './usage.ts'
import { tooManyChoices } from '../limit-fault.ts'
import { readEvent, readUsageEvent } from '../read-event.ts'

/**
 * Gemini's `streamGenerateContent`, of Google AI and of Vertex AI, as events (`alt=sse`) or as one JSON array that grows.
 *
 * There is no terminal signal: a finish reason, then the end of the body. A prompt that was blocked has no candidates.
 *
 * @see https://ai.google.dev/api/generate-content
 */
export function gemini(profile: ProviderProfile = {}): StreamAdapter {
  return {
    api: 'gemini',
    terminator: 'end-of-body',
    // Nothing could be seen, whatever a profile says.
    sentinel: 'optional',
    finishReason: profile.finishReason ?? 'required',
    repairs: profile.repairs ?? [],
    sample: SAMPLE,
    open: (context) => new GeminiMachine(profile, context),
  }
}

class GeminiMachine implements AdapterMachine {
  ended = false
  readonly wholeCompletion = false
  readonly #profile: ProviderProfile
  readonly #context: AdapterContext
  readonly #candidates = new Map<number, Candidate>()
  readonly #ids: CallIds
  readonly #fields = new ProviderFields(RESPONSE_KEYS, false)
  #started = false
  /** The prompt was refused, and with it whatever comes as an answer. */
  #blocked = false
  #id: string | undefined
  #model: string | undefined
  #usage: TokenUsage | undefined

  readonly #handlers: PayloadHandlers = {
    json: (value, event, out) => this.#payload(value, event, out),
    // Relays that speak several formats end all of them alike.
    done: () => {
      this.ended = true
    },
  }

  constructor(profile: ProviderProfile, context: AdapterContext) {
    this.#profile = profile
    this.#context = context
    this.#ids = new CallIds(context.idSeed)
  }

  get choices(): Iterable<number> {
    return this.#candidates.keys()
  }

  /** Where each event has a finish reason, none of them says that this was the last (fault F170). */
  get finished(): boolean {
    if (this.#candidates.size < Math.max(1, this.#context.request.n ?? 1)) return false
    for (const { blocks } of this.#candidates.values()) {
      if (blocks.finish === undefined || blocks.finishedEarly) return false
    }
    return true
  }

  push(event: ServerSentEvent, out: AdapterOutput): void {
    const before = out.chunks.length
    const unframed = unframedJson(event)
    if (unframed !== undefined) {
      out.note('unknown_sse_field', 'JSON that is not written as data')
      this.#handlers.json(unframed, event, out)
    } else readEvent(event, this.#handlers, out)
    checkCorruptEvent(event, before, this.ended, out)
  }

  end(out: AdapterOutput): void {
    for (const candidate of this.#candidates.values()) candidate.end(out)
  }

  readUsageOnly(event: ServerSentEvent, out: AdapterOutput): void {
    readUsageEvent(event, (response) => this.#takeUsage(response['usageMetadata'], out), out)
  }

  #payload(value: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    if (!Array.isArray(value)) {
      this.#one(value, '', event, out)
      return
    }
    // Responses and errors are also written as the elements of a list.
    for (let i = 0; i < value.length && !out.chunks.some(isError); i++) this.#one(value[i], `/${i}`, event, out)
    if (value.length === 0) out.note('unknown_event', '[]')
  }

  #one(value: unknown, pointer: string, event: ServerSentEvent, out: AdapterOutput): void {
    // The endpoint of Google's own command line wraps each response.
    const wrapped =
      isRecord(value) && value['candidates'] === undefined && isRecord(value['response'])
        ? value['response']
        : undefined
    const error = faultOfPayload(value, event.event === 'error') ?? (wrapped && faultOfPayload(wrapped))
    if (error !== undefined) {
      if (isRecord(value)) this.#takeUsage(value['usageMetadata'], out)
      out.chunks.push({ type: 'error', error })
      return
    }
    if (!isRecord(value)) {
      out.skipped.push({ message: 'the data of this event is not a JSON object, where a response was due' })
      return
    }
    if (wrapped !== undefined) this.#response(wrapped, `${pointer}/response`, event, out)
    else this.#response(value, pointer, event, out)
  }

  #response(raw: Record<string, unknown>, pointer: string, event: ServerSentEvent, out: AdapterOutput): void {
    const { candidates, promptFeedback } = raw
    if (isNothing(candidates) && isNothing(promptFeedback) && isNothing(raw['usageMetadata'])) {
      out.note('unknown_event', event.event)
      return
    }
    if (this.#identify(raw, out)) return
    if (Array.isArray(candidates)) {
      for (let i = 0; i < candidates.length; i++) {
        if (!this.#candidate(candidates[i], `${pointer}/candidates/${i}`, candidates.length > 1 ? i : 0, event, out))
          return
      }
    } else if (!isNothing(candidates)) out.skipped.push({ message: 'the candidates of a response are not a list' })
    this.#takeUsage(raw['usageMetadata'], out)
    this.#fields.read(raw, undefined, out)
    if (isRecord(promptFeedback)) this.#feedback(promptFeedback, out)
    else if (!isNothing(promptFeedback))
      out.skipped.push({ message: 'the promptFeedback of a response is not an object' })
  }

  /** Id and model of the response. True when the stream was found to be a splice of two. */
  #identify(raw: Record<string, unknown>, out: AdapterOutput): boolean {
    const id = identity(raw['responseId'])
    const model = identity(raw['modelVersion'])
    if (id !== undefined && this.#id !== undefined && id !== this.#id) {
      const otherModel = model !== undefined && this.#model !== undefined && model !== this.#model
      if (otherModel && [...this.#candidates.values()].some(({ blocks }) => blocks.hasContent)) {
        const before = { id: this.#id, model: this.#model }
        out.chunks.push({ type: 'error', error: spliced('generations', before, { id, model }) })
        return true
      }
      out.note('response_id_changed')
    }
    this.#id ??= id
    this.#model ??= model
    if (this.#started) return false
    this.#started = true
    out.chunks.push(startChunk(this.#id, this.#model))
    return false
  }

  /** Returns false when a limit was hit and the rest must not be read. */
  #candidate(raw: unknown, pointer: string, position: number, event: ServerSentEvent, out: AdapterOutput): boolean {
    if (!isRecord(raw)) {
      out.skipped.push({ message: 'a candidate is not an object' })
      return true
    }
    const index = choiceIndex(raw['index'], position)
    if (index === undefined) {
      out.skipped.push({ message: 'a candidate has an index that is no whole number from 0' })
      return true
    }
    const candidate = this.#open(index, out)
    return candidate !== undefined && candidate.read(raw, pointer, event, out)
  }

  #open(index: number, out: AdapterOutput): Candidate | undefined {
    const known = this.#candidates.get(index)
    if (known !== undefined) return known
    const { limits } = this.#context
    if (this.#candidates.size >= limits.choices) {
      out.chunks.push(tooManyChoices(limits.choices))
      return undefined
    }
    const candidate = new Candidate({
      index,
      finishAliases: this.#profile.finishAliases ?? {},
      ids: this.#ids,
      maxCalls: limits.callsPerChoice,
      maxArgumentBytes: limits.argumentBytes,
      responseId: () => this.#id,
    })
    this.#candidates.set(index, candidate)
    if (this.#blocked) candidate.block(out)
    return candidate
  }

  /** The prompt was refused: mostly there is no candidate, and never a finish reason that would say so. */
  #feedback(feedback: Record<string, unknown>, out: AdapterOutput): void {
    const raw = feedback['blockReason']
    const reason = isNothing(raw) || typeof raw === 'string' ? identity(raw) : printed(raw)
    if (reason === undefined || isUnspecified(reason)) return
    this.#blocked = true
    if (this.#candidates.size === 0) this.#open(0, out)
    for (const candidate of this.#candidates.values()) candidate.block(out)
  }

  #takeUsage(raw: unknown, out: AdapterOutput): void {
    if (!isRecord(raw)) return
    const usage = usageOf(raw)
    // The newest counts as it is: its counters add up, and would not with one of an earlier event among them. Only where it has
    // none (early events name no more than a traffic type) those from before stay.
    if (usage.inputTokens === undefined && usage.outputTokens === undefined && usage.totalTokens === undefined) return
    if ((this.#usage?.outputTokens ?? 0) > (usage.outputTokens ?? 0)) out.note('usage_decreased')
    this.#usage = usage
    out.chunks.push({ type: 'usage', usage })
  }
}

function isError({ type }: StreamChunk): boolean {
  return type === 'error'
}

/** What is read; the rest of a response is kept. */
const RESPONSE_KEYS: ReadonlySet<string> = new Set(['candidates', 'usageMetadata', 'modelVersion', 'responseId'])
