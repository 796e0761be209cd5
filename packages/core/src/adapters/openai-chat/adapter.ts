import type { TokenUsage } from '../../chunk/usage.ts'
import { readStrict } from '../../json/strict.ts'
import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterContext, AdapterMachine, AdapterOutput, StreamAdapter } from '../adapter.ts'
import { CallIds } from '../call-id.ts'
import { checkCorruptEvent } from '../corrupt-event.ts'
import { faultOfPayload } from '../error-body.ts'
import { isKeepable } from '../kept-value.ts'
import { keepLogprobs } from '../logprobs.ts'
import { readPayload } from '../payload.ts'
import type { PayloadHandlers } from '../payload.ts'
import { ProviderFields } from '../provider-fields.ts'
import { spliced } from '../splice.ts'
import { startChunk } from '../start-chunk.ts'
import { readStrayFields } from '../stray-fields.ts'
import { choiceIndex } from '../wire-value.ts'
import { ChatChoice } from './choice.ts'
import { ChunkTemplate } from './chunk-template.ts'
import { reasoningOf, textOfParts } from './content.ts'
import { finishReasonOf } from './finish-reason.ts'
import { SAMPLE } from './sample.ts'
import type { ProviderProfile } from '../profile.ts'
import { readProfile } from '../read-profile.ts'
import { readFunctionCall, readToolFragment } from './tool-fragment.ts'
import type { ToolFragment } from './tool-fragment.ts'
import { usageOf } from './usage.ts'
import { CHUNK_KEYS, identity, isRecord } from './wire.ts'
import type { WireChoice, WireChunk, WireDelta } from './wire.ts'
import { tooManyCalls, tooManyChoices } from '../limit-fault.ts'
import { readFinishWord } from '../finish-word.ts'
import { readUsageEvent } from '../read-event.ts'
import { statedTwice } from '../stated-twice.ts'

/**
 * OpenAI Chat Completions and the servers that speak it. What a server does differently is told by its profile.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming/streaming
 */
export function chatCompletions(profile: ProviderProfile = {}, options: ChatAdapterOptions = {}): StreamAdapter {
  readProfile(profile)
  return {
    api: 'chat_completions',
    terminator: 'done-sentinel',
    sentinel: profile.sentinel ?? 'required',
    finishReason: profile.finishReason ?? 'required',
    repairs: profile.repairs ?? [],
    sample: SAMPLE,
    open: (context) => new ChatMachine(profile, context, options.template ?? true),
  }
}

export interface ChatAdapterOptions {
  /** Read payloads that only differ in their delta by what is the same in them. Changes nothing but the time. Default true. */
  readonly template?: boolean
}

class ChatMachine implements AdapterMachine {
  ended = false
  wholeCompletion = false
  readonly #profile: ProviderProfile
  readonly #context: AdapterContext
  readonly #choices = new Map<number, ChatChoice>()
  readonly #ids: CallIds
  readonly #fields = new ProviderFields(CHUNK_KEYS, false)
  readonly #template: ChunkTemplate | undefined
  #first: ChatChoice | undefined
  #unfinished = 0
  #started = false
  #id: string | undefined
  #model: string | undefined
  #usage: TokenUsage | undefined
  #usageIsOwn = false
  /** Of the last fragment that had a name. */
  #lastId: string | undefined
  #lastName: string | undefined

  readonly #handlers: PayloadHandlers = {
    json: (value, event, out) => this.#payload(value, event, out),
    done: () => {
      this.ended = true
    },
  }

  constructor(profile: ProviderProfile, context: AdapterContext, template: boolean) {
    this.#template = template ? new ChunkTemplate() : undefined
    this.#profile = profile
    this.#context = context
    this.#ids = new CallIds(context.idSeed)
  }

  get choices(): Iterable<number> {
    return this.#choices.keys()
  }

  get finished(): boolean {
    return this.#unfinished === 0 && this.#choices.size >= Math.max(1, this.#context.request.n ?? 1)
  }

  push(event: ServerSentEvent, out: AdapterOutput): void {
    const before = out.chunks.length
    this.#pushEvent(event, out)
    if (event.invalidUtf8) checkCorruptEvent(event, before, this.ended, out)
  }

  #pushEvent(event: ServerSentEvent, out: AdapterOutput): void {
    if (event.fields !== undefined && readStrayFields(event, this.#handlers, out)) return
    const template = this.#template
    if (template === undefined) {
      readPayload(event, this.#handlers, out)
      return
    }
    const delta = template.match(event)
    if (delta === undefined) {
      this.#inert = false
      readPayload(event, this.#handlers, out)
      if (this.#inert) template.learn(event.data, this.#inertChoice!)
      else template.forget()
    } else if (delta.kind === 'text') template.choice!.text('text', delta.text, out)
    else if (delta.kind === 'arguments') this.#tool(delta.fragment, false, template.choice!, event, out)
    else this.#delta(delta.value, template.choice!, event, out)
  }

  end(out: AdapterOutput): void {
    for (const choice of this.#choices.values()) choice.end(out)
  }

  readUsageOnly(event: ServerSentEvent, out: AdapterOutput): void {
    readUsageEvent(event, (chunk) => this.#readUsage(chunk, out), out)
  }

  /**
   * Was the last payload nothing but its delta? Then one that differs in the delta alone needs nothing else read again: its other
   * parts would give out no chunk and no finding.
   */
  #inert = false
  #inertChoice: ChatChoice | undefined

  #payload(value: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    // Of this payload alone: one event may hold several (glued_events).
    this.#inert = false
    const error = saysNoError(value, event) ? undefined : faultOfPayload(value, event.event === 'error')
    if (!isRecord(value)) {
      if (error !== undefined) out.chunks.push({ type: 'error', error })
      else out.skipped.push({ message: 'the data of this event is not a JSON object, where a chunk was due' })
      return
    }
    const chunk: WireChunk = value
    const { choices } = chunk
    if (Array.isArray(choices)) {
      if (this.#identify(chunk, choices, out)) return
      for (let i = 0; i < choices.length; i++) {
        const choice: unknown = choices[i]
        if (isRecord(choice)) {
          if (!this.#choice(choice, i, choices.length, event, out)) return
        } else if (choice !== null) out.skipped.push({ message: 'an element of choices is not an object' })
      }
    } else if (error === undefined && chunk.usage == null && chunk.x_groq == null) {
      if (choices !== undefined && choices !== null) out.skipped.push({ message: 'choices is no array' })
      else if (choices === undefined) {
        out.note('unknown_event', event.event)
        return
      }
    }
    this.#readUsage(value, out)
    const settled = this.#fields.read(value, undefined, out)
    this.#inert =
      this.#inert &&
      settled &&
      error === undefined &&
      chunk.usage == null &&
      (choices as readonly unknown[]).length === 1 &&
      (chunk.id === this.#id || chunk.id === undefined || chunk.id === '')
    if (error !== undefined) out.chunks.push({ type: 'error', error })
  }

  /** Response id and model, from the first chunk that has them. True when the stream was found to be a splice. */
  #identify(chunk: WireChunk, choices: readonly unknown[], out: AdapterOutput): boolean {
    const { id, model } = chunk
    if (typeof id === 'string' && id !== '' && id !== this.#id) {
      if (this.#id === undefined) this.#id = id
      else if (this.#isSplice(model, choices)) {
        const before = { id: this.#id, model: this.#model }
        out.chunks.push({ type: 'error', error: spliced('generations', before, { id, model: String(model) }) })
        return true
      } else if (typeof model === 'string' && model !== '' && this.#model !== undefined && model !== this.#model) {
        out.note('splice_suspected')
      } else out.note('response_id_changed')
    }
    if (typeof model === 'string' && model !== '') this.#model ??= model
    if (this.#started || (choices.length === 0 && this.#id === undefined)) return false
    this.#started = true
    out.chunks.push(startChunk(this.#id, this.#model))
    return false
  }

  #isSplice(model: unknown, choices: readonly unknown[]): boolean {
    if (typeof model !== 'string' || model === '' || this.#model === undefined || model === this.#model) return false
    if (![...this.#choices.values()].some(({ hasContent }) => hasContent)) return false
    return choices.some(
      (choice) => isRecord(choice) && isRecord(choice['delta']) && identity(choice['delta']['role']) !== undefined,
    )
  }

  /** Returns false when a limit was hit and the rest must not be read. */
  #choice(raw: WireChoice, position: number, count: number, event: ServerSentEvent, out: AdapterOutput): boolean {
    const index = choiceIndex(raw.index, count > 1 ? position : 0)
    if (index === undefined) {
      out.skipped.push({ message: 'a choice has an index that is no whole number from 0' })
      return true
    }
    const choice = index === 0 && this.#first !== undefined ? this.#first : this.#openChoice(index, out)
    if (choice === undefined) return false
    const { delta } = raw
    const error = raw.error ?? (isRecord(delta) ? delta['error'] : undefined)
    const fault = error === undefined ? undefined : faultOfPayload({ error })
    if (isRecord(delta)) {
      if (!this.#delta(delta, choice, event, out)) return false
    } else if (isRecord(raw.message) && !choice.hasContent) {
      this.wholeCompletion = true
      out.note('downgraded_to_json')
      if (!this.#delta(raw.message, choice, event, out)) return false
    } else if (delta !== undefined && delta !== null) out.skipped.push({ message: 'delta is not an object' })
    if (isRecord(raw.logprobs)) keepLogprobs(raw.logprobs, 'logprobs', LOGPROB_LISTS, choice.index, out)
    const settled = choice.choiceFields.read(raw, choice.index, out)
    if (isRecord(raw.usage)) this.#takeUsage(raw.usage, true, out)
    this.#inert =
      this.#template !== undefined &&
      settled &&
      isRecord(delta) &&
      raw.logprobs == null &&
      raw.usage == null &&
      raw.finish_reason == null
    this.#inertChoice = choice
    this.#finish(raw.finish_reason, choice, out)
    if (fault === undefined) return true
    out.chunks.push({ type: 'error', error: fault })
    return false
  }

  #openChoice(index: number, out: AdapterOutput): ChatChoice | undefined {
    const known = this.#choices.get(index)
    if (known !== undefined) return known
    const { limits, request, idSeed: _ } = this.#context
    if (this.#choices.size >= limits.choices) {
      out.chunks.push(tooManyChoices(limits.choices))
      return undefined
    }
    const choice = new ChatChoice({
      index,
      maxCalls: limits.callsPerChoice,
      names: { append: this.#profile.nameMerge === 'append', declared: request.tools },
      idChange: this.#profile.idChange ?? 'conflict',
      toolIndex: this.#profile.toolIndex ?? 'use',
      cumulativeText: this.#profile.cumulativeText ?? false,
      thinkTags: this.#profile.thinkTags ?? false,
      ids: this.#ids,
      responseId: () => this.#id,
    })
    this.#choices.set(index, choice)
    this.#unfinished++
    if (index === 0) this.#first = choice
    return choice
  }

  #delta(delta: WireDelta, choice: ChatChoice, event: ServerSentEvent, out: AdapterOutput): boolean {
    const reasoning = reasoningOf(delta)
    if (reasoning !== undefined) {
      if (reasoning.duplicated)
        out.note('reasoning_duplicated', reasoning.contradicts ? 'the spellings differ' : undefined)
      choice.text('reasoning', reasoning.text, out)
    }
    const { content, refusal } = delta
    if (typeof content === 'string') {
      if (content !== '') choice.text('text', content, out)
    } else if (Array.isArray(content)) this.#parts(content, choice, out)
    else if (content !== undefined && content !== null) out.note('unexpected_field', 'content')
    if (typeof refusal === 'string') {
      if (refusal !== '') choice.text('refusal', refusal, out)
    } else if (refusal !== undefined && refusal !== null) out.skipped.push({ message: 'refusal is no text' })
    choice.deltaFields.read(delta, choice.index, out)
    const { tool_calls: toolCalls, function_call: functionCall } = delta
    if (Array.isArray(toolCalls)) {
      for (let i = 0; i < toolCalls.length; i++) {
        if (!this.#tool(readToolFragment(toolCalls[i]), i > 0, choice, event, out)) return false
      }
    } else if (isRecord(toolCalls)) {
      if (!this.#tool(readToolFragment(toolCalls), false, choice, event, out)) return false
    } else if (toolCalls !== undefined && toolCalls !== null) out.skipped.push({ message: 'tool_calls is no array' })
    if (functionCall !== undefined && functionCall !== null) {
      out.note('legacy_function_call')
      if (isMirror(functionCall, toolCalls)) return true
      if (!this.#tool(readFunctionCall(functionCall), false, choice, event, out)) return false
    }
    return true
  }

  #parts(parts: readonly unknown[], choice: ChatChoice, out: AdapterOutput): void {
    const { text, reasoning, refusal, otherParts } = textOfParts(parts)
    const kept = otherParts.filter((part) => isKeepable(part))
    if (reasoning !== '') choice.text('reasoning', reasoning, out)
    if (text !== '') choice.text('text', text, out)
    if (refusal !== '') choice.text('refusal', refusal, out)
    if (kept.length > 0) out.chunks.push({ type: 'metadata', choice: choice.index, append: { content: kept } })
  }

  #tool(
    fragment: ToolFragment | string | undefined,
    afterSibling: boolean,
    choice: ChatChoice,
    event: ServerSentEvent,
    out: AdapterOutput,
  ): boolean {
    if (fragment === undefined) return true
    if (typeof fragment === 'string') {
      out.skipped.push({ message: fragment })
      return true
    }
    if (fragment.serialised) {
      out.note('arguments_as_object')
      // The payload's own parse has already rounded and deduplicated what it holds: only its text can tell.
      const read = readStrict(event.data)
      if (!read.ok || read.issues.length > 0) {
        fragment.unsafe =
          'the arguments came as a JSON value with a number that would be rounded or a key that is there twice'
      }
    }
    if (fragment.name !== undefined) this.#suspect(fragment, event)
    if (choice.tool(fragment, afterSibling, event.invalidUtf8 === true, out)) return true
    out.chunks.push(tooManyCalls(choice.index, this.#context.limits.callsPerChoice))
    return false
  }

  /** A fragment with a name opens a call, as a rule; some servers repeat it, with its id, in every one. */
  #suspect(fragment: ToolFragment, event: ServerSentEvent): void {
    const { name, id } = fragment
    if (id !== undefined && id === this.#lastId && name === this.#lastName) return
    this.#lastId = id
    this.#lastName = name
    const twice = statedTwice(event, CALL_PLACES)
    if (twice !== undefined) fragment.unsafe ??= twice
  }

  #finish(raw: unknown, choice: ChatChoice, out: AdapterOutput): void {
    const word = readFinishWord(raw, (text) => finishReasonOf(text, this.#profile.finishAliases ?? {}), out)
    if (word === undefined) return
    if (choice.finish === undefined) this.#unfinished--
    choice.close(word.raw, word.reason, out)
  }

  #readUsage(chunk: WireChunk, out: AdapterOutput): void {
    const { usage, x_groq: groq } = chunk
    if (isRecord(usage)) this.#takeUsage(usage, true, out)
    else if (isRecord(groq) && isRecord(groq['usage'])) this.#takeUsage(groq['usage'], false, out)
  }

  #takeUsage(raw: Record<string, unknown>, own: boolean, out: AdapterOutput): void {
    if (!own && this.#usageIsOwn) return
    if (own) this.#usageIsOwn = true
    const usage = usageOf(raw)
    const before = this.#usage
    if (before !== undefined && (before.outputTokens ?? 0) > (usage.outputTokens ?? 0)) {
      out.note('usage_decreased')
      if ((usage.outputTokens ?? 0) === 0 && (usage.inputTokens ?? 0) === 0) return
    }
    this.#usage = usage
    out.chunks.push({ type: 'usage', usage })
  }
}

/** What says which call a fragment is of, and what it says of it. */
const CALL_PLACES = ['delta', 'message'].flatMap((of) => [
  '/choices/*/index',
  `/choices/*/${of}/tool_calls`,
  `/choices/*/${of}/function_call`,
])

const LOGPROB_LISTS = ['content', 'refusal'] as const

/** Most chunks by far; what is left is for {@link faultOfPayload} to judge. */
function saysNoError(value: unknown, event: ServerSentEvent): boolean {
  const chunk = value as (WireChunk & { readonly errors?: unknown }) | null
  return (
    typeof chunk === 'object' &&
    chunk !== null &&
    Array.isArray(chunk.choices) &&
    chunk.error === undefined &&
    chunk.x_groq === undefined &&
    chunk.object !== 'error' &&
    event.event === undefined
  )
}

/** The legacy field may say the same as `tool_calls` beside it; then it is no second call. */
function isMirror(functionCall: unknown, toolCalls: unknown): boolean {
  if (!Array.isArray(toolCalls) || toolCalls.length !== 1 || !isRecord(functionCall)) return false
  const body = isRecord(toolCalls[0]) ? toolCalls[0]['function'] : undefined
  if (!isRecord(body)) return false
  return (
    (body['name'] ?? '') === (functionCall['name'] ?? '') &&
    (body['arguments'] ?? '') === (functionCall['arguments'] ?? '')
  )
}
