import { permitsToolCalls } from '../../chunk/finish-reason.ts'
import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterContext, AdapterMachine, AdapterOutput, StreamAdapter } from '../adapter.ts'
import { CallIds } from '../call-id.ts'
import { ChoiceBlocks } from '../choice-blocks.ts'
import type { TextBlockType } from '../text-block.ts'
import { checkCorruptEvent } from '../corrupt-event.ts'
import { faultOfPayload } from '../error-body.ts'
import { isKeepable } from '../kept-value.ts'
import type { PayloadHandlers } from '../payload.ts'
import type { ProviderProfile } from '../profile.ts'
import { ProviderFields } from '../provider-fields.ts'
import { startChunk } from '../start-chunk.ts'
import { argumentsOfCall } from '../stated-twice.ts'
import { WholeCalls } from '../whole-calls.ts'
import { identity, isNothing, isRecord, nameText } from '../wire-value.ts'
import { finishReasonOf } from './finish-reason.ts'
import { USAGE_KEYS, usageOf } from './usage.ts'
import { readFinishWord } from '../finish-word.ts'
import type { FinishAliases } from '../finish-word.ts'
import { readEvent, readUsageEvent } from '../read-event.ts'

/**
 * Ollama's own API, `/api/chat` and `/api/generate`: one JSON object per line. `done: true` is the end, calls come whole and
 * with arguments as an object.
 *
 * @see https://docs.ollama.com/api
 */
export function ollama(profile: ProviderProfile = {}): StreamAdapter {
  return {
    api: 'ollama',
    terminator: 'stop-event',
    sentinel: profile.sentinel ?? 'required',
    finishReason: profile.finishReason ?? 'required',
    repairs: profile.repairs ?? [],
    open: (context) => new OllamaMachine(profile, context),
  }
}

class OllamaMachine implements AdapterMachine {
  ended = false
  readonly finished = false
  readonly wholeCompletion = false
  readonly #aliases: FinishAliases
  readonly #blocks: ChoiceBlocks
  readonly #calls: WholeCalls
  readonly #lineFields = new ProviderFields(LINE_KEYS, false)
  readonly #messageFields = new ProviderFields(MESSAGE_KEYS, true)
  #started = false

  readonly #handlers: PayloadHandlers = {
    json: (value, event, out) => this.#line(value, event, out),
    done: () => {
      this.ended = true
    },
  }

  constructor(profile: ProviderProfile, { idSeed, limits }: AdapterContext) {
    this.#aliases = profile.finishAliases ?? {}
    this.#blocks = new ChoiceBlocks(0, { thinkTags: profile.thinkTags ?? false })
    // A response has no id of its own.
    this.#calls = new WholeCalls(this.#blocks, new CallIds(idSeed), limits.callsPerChoice, () => undefined)
  }

  get choices(): Iterable<number> {
    return this.#started ? [0] : []
  }

  push(event: ServerSentEvent, out: AdapterOutput): void {
    const before = out.chunks.length
    readEvent(event, this.#handlers, out)
    checkCorruptEvent(event, before, this.ended, out)
  }

  end(out: AdapterOutput): void {
    this.#blocks.end(out, this.#calls.waiting)
  }

  readUsageOnly(event: ServerSentEvent, out: AdapterOutput): void {
    readUsageEvent(event, (line) => takeUsage(line, out), out)
  }

  #line(value: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    const error = faultOfPayload(value, event.event === 'error')
    if (error !== undefined) {
      out.chunks.push({ type: 'error', error })
      return
    }
    if (!isRecord(value)) {
      out.skipped.push({ message: 'a line is not a JSON object' })
      return
    }
    const { message, response, done } = value
    if (isNothing(message) && isNothing(response) && isNothing(done)) {
      out.note('unknown_event', event.event)
      return
    }
    this.#start(value, out)
    this.#text('reasoning', value['thinking'], 'thinking', out)
    this.#text('text', response, 'response', out)
    if (isRecord(message)) {
      if (!this.#message(message, event, out)) return
    } else if (!isNothing(message)) out.skipped.push({ message: 'the message of a line is not an object' })
    this.#logprobs(value['logprobs'], out)
    takeUsage(value, out)
    this.#lineFields.read(value, undefined, out)
    if (done === true) this.#done(value['done_reason'], out)
    else if (!isNothing(done) && done !== false) out.note('unexpected_field', 'done')
  }

  #start(line: Record<string, unknown>, out: AdapterOutput): void {
    if (this.#started) return
    this.#started = true
    const model = identity(line['model'])
    out.chunks.push(startChunk(undefined, model))
  }

  /** Returns false when a limit was hit and the rest must not be read. */
  #message(message: Record<string, unknown>, event: ServerSentEvent, out: AdapterOutput): boolean {
    this.#text('reasoning', message['thinking'], 'thinking', out)
    this.#text('text', message['content'], 'content', out)
    const { tool_calls: calls } = message
    if (Array.isArray(calls)) {
      for (let i = 0; i < calls.length; i++) if (!this.#call(calls[i], i, event, out)) return false
    } else if (!isNothing(calls)) out.skipped.push({ message: 'the tool_calls of a message are not a list' })
    this.#messageFields.read(message, 0, out)
    return true
  }

  #text(type: TextBlockType, text: unknown, field: string, out: AdapterOutput): void {
    if (typeof text === 'string') this.#blocks.text(type, text, out)
    else if (!isNothing(text)) out.skipped.push({ message: `the ${field} of a line is not a string` })
  }

  #call(raw: unknown, i: number, event: ServerSentEvent, out: AdapterOutput): boolean {
    const body = isRecord(raw) ? raw['function'] : undefined
    if (!isRecord(raw) || !isRecord(body)) {
      out.skipped.push({ message: 'an element of tool_calls is not a call of a function' })
      return true
    }
    // The whole call: its name may be there twice, too.
    const pointer = `/message/tool_calls/${i}`
    const value = argumentsOfCall(body['arguments'], { event, pointer })
    if (value === undefined) {
      out.skipped.push({ message: 'the arguments of a call are nested too deeply to be written down' })
      return true
    }
    const id = identity(raw['id'])
    const call = this.#calls.open({ id, name: nameText(body['name']), invalidUtf8: event.invalidUtf8 === true }, out)
    if (call === undefined) return false
    const { text, unsafe } = value
    call.write({ argumentsDelta: text, ...(unsafe !== undefined && { unsafeArguments: unsafe }) }, out)
    call.end(out)
    return true
  }

  #done(raw: unknown, out: AdapterOutput): void {
    this.ended = true
    const word = readFinishWord(raw, (text) => finishReasonOf(text, this.#aliases), out)
    if (word === undefined) return
    this.#blocks.close(word.raw, word.reason, out)
    if (permitsToolCalls(word.reason)) this.#calls.endAll(out)
  }

  #logprobs(list: unknown, out: AdapterOutput): void {
    if (Array.isArray(list) && list.length > 0 && isKeepable(list))
      out.chunks.push({ type: 'metadata', choice: 0, append: { logprobs: list } })
  }
}

function takeUsage(line: Record<string, unknown>, out: AdapterOutput): void {
  const usage = usageOf(line)
  if (usage !== undefined) out.chunks.push({ type: 'usage', usage })
}

/** What is read, and what changes from line to line and means nothing. `context` is kept: `/api/generate` takes it back. */
const LINE_KEYS: ReadonlySet<string> = new Set([
  'model',
  'created_at',
  'message',
  'response',
  'thinking',
  'logprobs',
  'done',
  'done_reason',
  ...USAGE_KEYS,
])
const MESSAGE_KEYS: ReadonlySet<string> = new Set(['role', 'content', 'thinking', 'tool_calls'])
