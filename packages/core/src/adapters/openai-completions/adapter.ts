import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterContext, AdapterMachine, AdapterOutput, StreamAdapter } from '../adapter.ts'
import { ChoiceBlocks } from '../choice-blocks.ts'
import { checkCorruptEvent } from '../corrupt-event.ts'
import { faultOfPayload } from '../error-body.ts'
import { keepLogprobs } from '../logprobs.ts'
import { finishReasonOf } from '../openai-chat/finish-reason.ts'
import { usageOf } from '../openai-chat/usage.ts'
import type { PayloadHandlers } from '../payload.ts'
import type { ProviderProfile } from '../profile.ts'
import { ProviderFields } from '../provider-fields.ts'
import { startChunk } from '../start-chunk.ts'
import { choiceIndex, identity, isNothing, isRecord } from '../wire-value.ts'
import { tooManyChoices } from '../limit-fault.ts'
import { readFinishWord } from '../finish-word.ts'
import type { FinishAliases } from '../finish-word.ts'
import { readEvent, readUsageEvent } from '../read-event.ts'

/**
 * OpenAI's legacy Completions: text without roles, and without calls.
 *
 * @see https://platform.openai.com/docs/api-reference/completions
 */
export function completions(profile: ProviderProfile = {}): StreamAdapter {
  return {
    api: 'completions',
    terminator: 'done-sentinel',
    sentinel: profile.sentinel ?? 'required',
    finishReason: profile.finishReason ?? 'required',
    repairs: profile.repairs ?? [],
    open: (context) => new CompletionsMachine(profile, context),
  }
}

interface Choice {
  readonly blocks: ChoiceBlocks
  readonly fields: ProviderFields
}

class CompletionsMachine implements AdapterMachine {
  ended = false
  wholeCompletion = false
  readonly #thinkTags: boolean
  readonly #aliases: FinishAliases
  readonly #context: AdapterContext
  readonly #choices = new Map<number, Choice>()
  readonly #fields = new ProviderFields(CHUNK_KEYS, false)
  #payloads = 0
  #started = false
  #id: string | undefined

  readonly #handlers: PayloadHandlers = {
    json: (value, event, out) => this.#payload(value, event, out),
    done: () => {
      this.ended = true
    },
  }

  constructor(profile: ProviderProfile, context: AdapterContext) {
    this.#thinkTags = profile.thinkTags ?? false
    this.#aliases = profile.finishAliases ?? {}
    this.#context = context
  }

  get choices(): Iterable<number> {
    return this.#choices.keys()
  }

  get finished(): boolean {
    if (this.#choices.size < Math.max(1, this.#context.request.n ?? 1)) return false
    for (const { blocks } of this.#choices.values()) if (blocks.finish === undefined) return false
    return true
  }

  push(event: ServerSentEvent, out: AdapterOutput): void {
    const before = out.chunks.length
    readEvent(event, this.#handlers, out)
    checkCorruptEvent(event, before, this.ended, out)
  }

  end(out: AdapterOutput): void {
    if (this.wholeCompletion && !this.ended) out.note('downgraded_to_json')
    for (const { blocks } of this.#choices.values()) blocks.end(out)
  }

  readUsageOnly(event: ServerSentEvent, out: AdapterOutput): void {
    readUsageEvent(event, (chunk) => takeUsage(chunk, out), out)
  }

  #payload(value: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    const error = faultOfPayload(value, event.event === 'error')
    if (!isRecord(value)) {
      if (error !== undefined) out.chunks.push({ type: 'error', error })
      else out.skipped.push({ message: 'the data of this event is not a JSON object, where a chunk was due' })
      return
    }
    const { choices } = value
    if (Array.isArray(choices)) {
      this.#start(value, out)
      for (let i = 0; i < choices.length; i++) {
        if (!this.#choice(choices[i], choices.length > 1 ? i : 0, out)) return
      }
    } else if (error === undefined && isNothing(value['usage'])) {
      if (isNothing(choices)) out.note('unknown_event', event.event)
      else out.skipped.push({ message: 'the choices of a chunk are not a list' })
      return
    }
    takeUsage(value, out)
    this.#fields.read(value, undefined, out)
    // A completion that was not streamed is a chunk like any other, only that everything is in it.
    this.wholeCompletion = this.#payloads++ === 0 && isRecord(value['usage']) && this.finished
    if (error !== undefined) out.chunks.push({ type: 'error', error })
  }

  #start(chunk: Record<string, unknown>, out: AdapterOutput): void {
    const id = identity(chunk['id'])
    if (id !== undefined && this.#id !== undefined && id !== this.#id) out.note('response_id_changed')
    this.#id ??= id
    if (this.#started) return
    this.#started = true
    out.chunks.push(startChunk(id, identity(chunk['model'])))
  }

  /** Returns false when a limit was hit and the rest must not be read. */
  #choice(raw: unknown, position: number, out: AdapterOutput): boolean {
    const index = isRecord(raw) ? choiceIndex(raw['index'], position) : undefined
    if (!isRecord(raw) || index === undefined) {
      out.skipped.push({ message: 'a choice is not an object with an index that is a whole number from 0' })
      return true
    }
    const choice = this.#choices.get(index) ?? this.#open(index, out)
    if (choice === undefined) return false
    const { text } = raw
    if (typeof text === 'string') choice.blocks.text('text', text, out)
    else if (!isNothing(text)) out.skipped.push({ message: 'the text of a choice is not a string' })
    keepLogprobs(raw['logprobs'], 'logprobs', LOGPROB_LISTS, index, out)
    choice.fields.read(raw, index, out)
    this.#finish(raw['finish_reason'], choice, out)
    return true
  }

  #open(index: number, out: AdapterOutput): Choice | undefined {
    const { limits } = this.#context
    if (this.#choices.size >= limits.choices) {
      out.chunks.push(tooManyChoices(limits.choices))
      return undefined
    }
    const choice = {
      blocks: new ChoiceBlocks(index, { thinkTags: this.#thinkTags }),
      fields: new ProviderFields(CHOICE_KEYS, false),
    }
    this.#choices.set(index, choice)
    return choice
  }

  #finish(raw: unknown, { blocks }: Choice, out: AdapterOutput): void {
    const word = readFinishWord(raw, (text) => finishReasonOf(text, this.#aliases), out)
    if (word === undefined) return
    blocks.close(word.raw, word.reason, out)
  }
}

function takeUsage(chunk: Record<string, unknown>, out: AdapterOutput): void {
  const { usage } = chunk
  if (isRecord(usage)) out.chunks.push({ type: 'usage', usage: usageOf(usage) })
}

const LOGPROB_LISTS = ['tokens', 'token_logprobs', 'top_logprobs', 'text_offset'] as const
const CHUNK_KEYS: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices', 'usage', 'error'])
const CHOICE_KEYS: ReadonlySet<string> = new Set(['index', 'text', 'logprobs', 'finish_reason'])
