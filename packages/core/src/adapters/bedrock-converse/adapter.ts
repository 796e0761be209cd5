import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterContext, AdapterMachine, AdapterOutput, StreamAdapter } from '../adapter.ts'
import { CallIds } from '../call-id.ts'
import { ChoiceBlocks } from '../choice-blocks.ts'
import type { BlockKey } from '../choice-blocks.ts'
import { checkCorruptEvent } from '../corrupt-event.ts'
import { faultOfPayload } from '../error-body.ts'
import { isKeepable } from '../kept-value.ts'
import { KeyedCalls } from '../keyed-calls.ts'
import type { PayloadHandlers } from '../payload.ts'
import type { ProviderProfile } from '../profile.ts'
import { ProviderFields } from '../provider-fields.ts'
import { startedAgain } from '../splice.ts'
import { startChunk } from '../start-chunk.ts'
import { statedTwice } from '../stated-twice.ts'
import { WholeCalls } from '../whole-calls.ts'
import { blockKey, identity, isNothing, isRecord, nameText } from '../wire-value.ts'
import { finishReasonOf } from './finish-reason.ts'
import { usageOf } from './usage.ts'
import { converseEvent, exceptionOf } from './wire.ts'
import { readFinishWord } from '../finish-word.ts'
import type { FinishAliases } from '../finish-word.ts'
import { readEvent, readUsageEvent } from '../read-event.ts'

/**
 * Amazon Bedrock's ConverseStream: blocks under an index, `messageStop` with the reason, `metadata` with the usage behind it. In
 * binary frames, inside the `bytes` of InvokeModel for models that speak it natively, or as JSON events.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */
export function bedrockConverse(profile: ProviderProfile = {}): StreamAdapter {
  return {
    api: 'bedrock_converse',
    terminator: 'stop-event',
    sentinel: profile.sentinel ?? 'required',
    finishReason: profile.finishReason ?? 'required',
    repairs: profile.repairs ?? [],
    open: (context) => new ConverseMachine(profile, context),
  }
}

type Fields = Record<string, unknown>

class ConverseMachine implements AdapterMachine {
  ended = false
  readonly wholeCompletion = false
  readonly #aliases: FinishAliases
  readonly #blocks = new ChoiceBlocks(0)
  readonly #wholeCalls: WholeCalls
  readonly #calls: KeyedCalls
  readonly #metadataFields = new ProviderFields(METADATA_KEYS, false)
  readonly #stopFields = new ProviderFields(STOP_KEYS, false)
  readonly #besideFields = new ProviderFields(PADDING_KEYS, false)
  /** Blocks whose content only the provider reads, as they grow. */
  readonly #opaque = new Map<BlockKey, { start: Fields; deltas: unknown[] }>()
  #started = false
  #stopped = false
  #described = false

  readonly #handlers: PayloadHandlers = {
    json: (value, event, out) => this.#payload(value, event, out),
    done: () => {
      this.ended = true
    },
  }

  constructor(profile: ProviderProfile, { idSeed, limits }: AdapterContext) {
    this.#aliases = profile.finishAliases ?? {}
    // A response has no id of its own.
    this.#wholeCalls = new WholeCalls(this.#blocks, new CallIds(idSeed), limits.callsPerChoice, () => undefined)
    this.#calls = new KeyedCalls(this.#wholeCalls)
  }

  get choices(): Iterable<number> {
    return this.#started ? [0] : []
  }

  get finished(): boolean {
    return this.#stopped
  }

  push(event: ServerSentEvent, out: AdapterOutput): void {
    const before = out.chunks.length
    readEvent(event, this.#handlers, out)
    checkCorruptEvent(event, before, this.ended, out)
  }

  end(out: AdapterOutput): void {
    // `metadata` comes behind the stop, and may be missing: the stop is the end all the same.
    if (this.#stopped) this.ended = true
    for (const key of this.#opaque.keys()) this.#endOpaque(key, out)
    this.#calls.flush(out)
    this.#blocks.end(out, this.#wholeCalls.waiting)
  }

  readUsageOnly(event: ServerSentEvent, out: AdapterOutput): void {
    readUsageEvent(
      event,
      (payload) => {
        const found = converseEvent(payload, event.event)
        if (found !== undefined && found !== 'lost' && found.type === 'metadata') takeUsage(found.body, out)
      },
      out,
    )
  }

  #payload(value: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    const found = isRecord(value) ? converseEvent(value, event.event) : undefined
    const error =
      (isRecord(value) ? exceptionOf(value, event.event) : undefined) ??
      (found === undefined ? faultOfPayload(value, event.event === 'error') : undefined)
    if (error !== undefined) {
      out.chunks.push({ type: 'error', error })
      return
    }
    if (!isRecord(value)) {
      out.skipped.push({ message: 'the data of this event is not a JSON object' })
      return
    }
    if (found === 'lost') {
      out.skipped.push({ message: 'an event of this API whose name or body can not be read' })
      return
    }
    if (found === undefined) {
      out.note('unknown_event', event.event ?? Object.keys(value)[0]?.slice(0, 60))
      return
    }
    const { type, body, beside } = found
    this.#start(out)
    switch (type) {
      case 'messageStart':
        if (this.#blocks.hasContent || this.#stopped) {
          out.chunks.push({ type: 'error', error: startedAgain('messageStart') })
          return
        }
        break
      case 'contentBlockStart':
      case 'contentBlockDelta':
      case 'contentBlockStop':
        this.#block(type, body, event, out)
        break
      case 'messageStop':
        this.#stopFields.read(body, 0, out)
        this.#stopped = true
        this.#finish(body['stopReason'], out)
        if (this.#described) this.ended = true
        break
      case 'metadata':
        takeUsage(body, out)
        this.#metadataFields.read(body, undefined, out)
        this.#described = true
        if (this.#stopped) this.ended = true
        break
    }
    this.#besideFields.read(beside, undefined, out)
  }

  #start(out: AdapterOutput): void {
    if (this.#started) return
    this.#started = true
    out.chunks.push(startChunk())
  }

  #block(
    type: 'contentBlockStart' | 'contentBlockDelta' | 'contentBlockStop',
    body: Fields,
    event: ServerSentEvent,
    out: AdapterOutput,
  ): void {
    const key = blockKey(body['contentBlockIndex'])
    if (key === undefined || key === null) {
      out.skipped.push({ message: `a ${type} has no index that can be read` })
      return
    }
    if (type === 'contentBlockStop') {
      this.#endOpaque(key, out)
      this.#calls.end(key, out)
      this.#blocks.endText(out, key)
      return
    }
    const content = body[type === 'contentBlockStart' ? 'start' : 'delta']
    if (isRecord(content)) {
      if (type === 'contentBlockStart') this.#startBlock(key, content, event, out)
      else this.#delta(key, content, event, out)
    } else if (type === 'contentBlockDelta' || !isNothing(content)) {
      out.skipped.push({ message: `the content of a ${type} is not an object` })
    }
  }

  #startBlock(key: BlockKey, start: Fields, event: ServerSentEvent, out: AdapterOutput): void {
    const { toolUse, ...other } = start
    if (isRecord(toolUse)) {
      const call = {
        id: identity(toolUse['toolUseId']),
        name: nameText(toolUse['name']),
        // A type that is not known is no tool of the caller's.
        providerExecuted: (identity(toolUse['type']) ?? 'tool_use') !== 'tool_use',
        invalidUtf8: event.invalidUtf8 === true,
        // The event holds nothing but the start of this call.
        unsafe: statedTwice(event, WHOLE_EVENT),
      }
      this.#calls.start(key, call, out)
      return
    }
    if (!isNothing(toolUse)) out.skipped.push({ message: 'the toolUse of a contentBlockStart is not an object' })
    else if (Object.keys(other).length > 0 && isKeepable(other)) this.#opaque.set(key, { start: other, deltas: [] })
  }

  #delta(key: BlockKey, delta: Fields, event: ServerSentEvent, out: AdapterOutput): void {
    for (const kind in delta) {
      const content = delta[kind]
      if (isNothing(content)) continue
      switch (kind) {
        case 'text':
          if (typeof content === 'string') this.#blocks.text('text', content, out, key)
          else out.skipped.push({ message: 'the text of a delta is not a string' })
          break
        case 'toolUse':
          this.#input(key, content, event, out)
          break
        case 'reasoningContent':
          this.#reasoning(key, content, out)
          break
        case 'citation':
          if (isKeepable(content)) out.chunks.push({ type: 'metadata', choice: 0, append: { citations: [content] } })
          break
        default:
          if (kind !== 'toolResult' && kind !== 'image') out.note('unexpected_field', `a delta of kind ${quote(kind)}`)
          this.#keep(key, kind, content)
      }
    }
  }

  #input(key: BlockKey, toolUse: unknown, event: ServerSentEvent, out: AdapterOutput): void {
    const input = isRecord(toolUse) ? toolUse['input'] : undefined
    if (typeof input === 'string') this.#calls.append(key, input, event, out)
    else out.skipped.push({ message: 'the input of a toolUse delta is not a string' })
  }

  #reasoning(key: BlockKey, content: unknown, out: AdapterOutput): void {
    if (!isRecord(content)) {
      out.skipped.push({ message: 'the reasoningContent of a delta is not an object' })
      return
    }
    const { text, signature, redactedContent } = content
    if (typeof text === 'string') this.#blocks.text('reasoning', text, out, key)
    else if (!isNothing(text)) out.skipped.push({ message: 'the reasoning text of a delta is not a string' })
    if (typeof signature === 'string') this.#blocks.sign('reasoning', { signature }, out, key)
    if (typeof redactedContent === 'string') this.#blocks.sign('reasoning', { redactedContent }, out, key)
  }

  #keep(key: BlockKey, kind: string, content: unknown): void {
    if (!isKeepable(content)) return
    const block = this.#opaque.get(key) ?? { start: {}, deltas: [] }
    block.deltas.push({ [kind]: content })
    this.#opaque.set(key, block)
  }

  #endOpaque(key: BlockKey, out: AdapterOutput): void {
    const block = this.#opaque.get(key)
    if (block === undefined) return
    this.#opaque.delete(key)
    this.#blocks.opaque({ ...block.start, ...(block.deltas.length > 0 && { deltas: block.deltas }) }, out)
  }

  #finish(raw: unknown, out: AdapterOutput): void {
    const word = readFinishWord(raw, (text) => finishReasonOf(text, this.#aliases), out)
    if (word === undefined) return
    this.#blocks.close(word.raw, word.reason, out)
  }
}

function takeUsage(metadata: Fields, out: AdapterOutput): void {
  const { usage } = metadata
  if (isRecord(usage)) out.chunks.push({ type: 'usage', usage: usageOf(usage) })
}

const WHOLE_EVENT = [''] as const

/** `p` is padding of random length; it means nothing. */
const PADDING_KEYS: ReadonlySet<string> = new Set(['p'])
const METADATA_KEYS: ReadonlySet<string> = new Set(['usage', 'p'])
const STOP_KEYS: ReadonlySet<string> = new Set(['stopReason', 'p'])

function quote(kind: string): string {
  return JSON.stringify(kind.slice(0, 40))
}
