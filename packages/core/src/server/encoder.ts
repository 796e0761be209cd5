import type { StreamChunk } from '../chunk/chunk.ts'
import { StreamError } from '../chunk/stream-error.ts'
import type { StreamFault } from '../chunk/fault.ts'
import { blockKey } from './block-key.ts'
import { ChatCompletionsWriter } from './chat-completions.ts'
import type { EventStreamWriter } from './event-stream-writer.ts'
import { MessagesWriter } from './messages.ts'
import { refusal, RefusalCheck } from './refusal.ts'
import { ResponsesWriter } from './responses.ts'
import { RestatedBlocks } from './restated.ts'
import { WrittenResponse } from './written-response.ts'

/** The APIs that streams can be written for. */
export const ENCODABLE_APIS = ['chat_completions', 'responses', 'anthropic_messages'] as const

/** One of {@link ENCODABLE_APIS}. */
export type EncodableApi = (typeof ENCODABLE_APIS)[number]

/** What a response is called where the chunks are not to say it, and what of it is written. */
export interface EncoderOptions {
  /** Id of the response. Default: the one that came, else a random one. */
  readonly id?: string
  /** Name of the model. Default: the one that came, else `unknown`. */
  readonly model?: string
  /** Seconds since 1970 for the API's own time field. Default: now. */
  readonly created?: number
  /** Chat Completions: write the event with the token counters, which clients get only when they ask for it. Default true. */
  readonly includeUsage?: boolean
}

/** Writes chunks as the events of one API. Always ends explicitly: with the API's terminal event, or with an error and without it. */
export interface EventStreamEncoder {
  /**
   * The events of this chunk as text; `''` when there is nothing to write yet, and after the end.
   *
   * @throws TypeError for what is no chunk
   */
  push(chunk: StreamChunk): string
  /** The source has ended. Without a finish before it, that is an error, never a clean end. */
  end(): string
  /** The source failed. */
  fail(fault: StreamFault): string
  /** The last event was written. */
  readonly ended: boolean
}

/** @throws TypeError for an API that can't be written */
export function createEventStreamEncoder(api: EncodableApi, options: EncoderOptions = {}): EventStreamEncoder {
  const { id, model, created = Math.floor(Date.now() / 1000), includeUsage = true } = options
  const response = new WrittenResponse({ id, model, created })
  return new Encoder(response, writerFor(api, response, includeUsage))
}

function writerFor(api: EncodableApi, response: WrittenResponse, includeUsage: boolean): EventStreamWriter {
  switch (api) {
    case 'chat_completions':
      return new ChatCompletionsWriter(response, includeUsage)
    case 'responses':
      return new ResponsesWriter(response)
    case 'anthropic_messages':
      return new MessagesWriter(response)
    default:
      throw new TypeError(`can't write "${String(api)}" streams; known are ${ENCODABLE_APIS.join(', ')}`)
  }
}

class Encoder implements EventStreamEncoder {
  ended = false
  readonly #response: WrittenResponse
  readonly #writer: EventStreamWriter
  readonly #blocks = new RestatedBlocks()
  readonly #refusals = new RefusalCheck()
  /** Choices that were opened and have not finished. */
  readonly #open = new Set<number>()
  #finished = 0
  readonly #providerRun = new Set<string>()

  constructor(response: WrittenResponse, writer: EventStreamWriter) {
    this.#response = response
    this.#writer = writer
  }

  push(chunk: StreamChunk): string {
    if (this.ended) return ''
    if (chunk.type === 'error') return this.fail(chunk.error)
    if (chunk.type === 'start') {
      this.#response.start(chunk)
      return this.#writer.begin()
    }
    if (chunk.type === 'usage') {
      this.#response.usage = chunk.usage
      return ''
    }
    if (chunk.type === 'metadata' && chunk.choice === undefined) return this.#writer.write(chunk)
    const choice = chunk.choice ?? 0
    if (choice > 0 && this.#writer.oneChoice) {
      return this.fail(
        refusal('protocol_conflict', 'a response of this API holds one answer, not several; ask for n: 1'),
      )
    }
    this.#open.add(choice)
    let before = ''
    switch (chunk.type) {
      case 'text-delta':
      case 'reasoning-delta':
      case 'refusal-delta':
        this.#blocks.add(chunk)
        break
      case 'tool-call-delta': {
        const fault = this.#refusals.ofCall(chunk)
        if (fault !== undefined) return this.fail(fault)
        this.#blocks.add(chunk)
        // Said once by the wire, and true of every fragment.
        if (chunk.providerExecuted === true) this.#providerRun.add(blockKey(chunk))
        else if (this.#providerRun.has(blockKey(chunk))) return this.#writer.write({ ...chunk, providerExecuted: true })
        break
      }
      case 'block-end': {
        const rest = this.#blocks.rest(chunk)
        if (rest === 'contradiction') {
          return this.fail(
            refusal('protocol_conflict', 'a block was restated at its end with other content than it had'),
          )
        }
        if (rest !== undefined) before = this.#writer.write(rest)
        break
      }
      case 'finish': {
        const fault = this.#refusals.ofFinish(chunk)
        if (fault !== undefined) return this.fail(fault)
        this.#open.delete(choice)
        this.#finished++
        break
      }
      case 'block-start':
        return ''
      case 'metadata':
        break
      default:
        throw new TypeError(`no chunk that can be written: its type is ${String((chunk as { type?: unknown }).type)}`)
    }
    return before + this.#writer.write(chunk)
  }

  end(): string {
    if (this.ended) return ''
    if (this.#open.size > 0 || this.#finished === 0) {
      const what = this.#finished === 0 ? 'without a finish' : 'before every choice had finished'
      return this.fail(refusal('incomplete_stream', `the source ended ${what}; what was received is kept, ask again`))
    }
    this.ended = true
    return this.#writer.close()
  }

  fail(fault: StreamFault): string {
    if (this.ended) return ''
    this.ended = true
    return this.#writer.error(fault)
  }
}

/** Any error of a source as a fault that may be shown: the words of one that is not ours stay inside. */
export function faultOf(error: unknown): StreamFault {
  if (!StreamError.is(error)) {
    return {
      code: 'upstream_error',
      phase: 'delta',
      retryable: 'restart',
      message: 'the server failed while it was answering; try again',
    }
  }
  const { code, phase, retryable, message, status, retryAfterMs, callId, provider } = error
  return {
    code,
    phase,
    retryable,
    message,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(callId !== undefined && { callId }),
    ...(provider !== undefined && { provider }),
  }
}
