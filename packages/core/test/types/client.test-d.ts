import { expectTypeOf } from 'vitest'
import {
  adapterFor,
  chatCompletions,
  createStreamEngine,
  guardFetch,
  guardFetchWith,
  mapEventStream,
  parseEventStream,
  streamModel,
  streamModelWith,
  streamResponse,
} from '../../src/index.ts'
import type {
  BatchedIterator,
  ByteSource,
  ModelResult,
  ModelStream,
  ServerSentEvent,
  StreamChunk,
  StreamEngine,
  StreamEvent,
} from '../../src/index.ts'

declare const body: ReadableStream<Uint8Array>
declare const reads: AsyncIterable<Uint8Array>
declare const texts: AsyncIterable<string>
declare const engine: StreamEngine

// Both kinds of source are taken, text is not: it has lost its bytes.
expectTypeOf(body).toExtend<ByteSource>()
expectTypeOf(reads).toExtend<ByteSource>()
expectTypeOf(texts).not.toExtend<ByteSource>()

expectTypeOf(parseEventStream(body)).toEqualTypeOf<BatchedIterator<ServerSentEvent>>()
expectTypeOf(mapEventStream(reads, () => undefined)).toEqualTypeOf<BatchedIterator<StreamChunk>>()
expectTypeOf(streamResponse(engine, (signal) => fetch('', { signal }))).toEqualTypeOf<
  AsyncGenerator<StreamEvent, void, undefined>
>()

// The request gets a signal that `fetch` takes.
expectTypeOf<Parameters<Parameters<typeof streamResponse>[1]>>().toEqualTypeOf<[signal: AbortSignal]>()

// @ts-expect-error the wire format is not optional
createStreamEngine({})
// @ts-expect-error names of wire formats are a closed union
adapterFor('chat-completions')
// @ts-expect-error so are policies
createStreamEngine({ adapter: adapterFor('chat_completions'), policy: 'lenient' })

expectTypeOf(engine.push(new Uint8Array(0))).toEqualTypeOf<readonly StreamEvent[]>()
// @ts-expect-error an engine takes bytes
engine.push('data: x')

/** Bodies as the vendors' own types have them: interfaces, without an index signature. */
interface VendorBody {
  model: string
  messages: { role: 'user'; content: string }[]
}
declare const vendorBody: VendorBody
const stream = streamModel({ api: 'chat_completions', body: vendorBody })
expectTypeOf(stream[Symbol.asyncIterator]()).toEqualTypeOf<AsyncIterableIterator<StreamEvent>>()
expectTypeOf(stream.text()).toEqualTypeOf<AsyncIterableIterator<string>>()
expectTypeOf(stream.batches()).toEqualTypeOf<AsyncIterableIterator<readonly StreamEvent[]>>()
expectTypeOf(stream.chunks()).toEqualTypeOf<AsyncIterableIterator<StreamChunk>>()
expectTypeOf(stream.result).toEqualTypeOf<Promise<ModelResult>>()
// @ts-expect-error an API that is not known
streamModel({ api: 'openai', body: {} })
// @ts-expect-error a body is an object
streamModel({ api: 'responses', body: 'text' })

// A variable of the environment may be there or not; so may anything else that is optional.
declare const perhaps: string | undefined
streamModel({
  api: 'responses',
  apiKey: perhaps,
  baseURL: perhaps,
  signal: undefined,
  retry: undefined,
  body: vendorBody,
})
streamModel({ api: 'responses', retry: { attempts: undefined }, body: vendorBody })
streamModelWith(chatCompletions(), { apiKey: perhaps, api: undefined, body: vendorBody })
guardFetch(fetch, { api: undefined, onReport: undefined })
guardFetchWith(chatCompletions(), fetch, { api: undefined, onReport: undefined })
// @ts-expect-error what is needed is not optional
streamModel({ api: 'responses', apiKey: perhaps, body: undefined })

expectTypeOf(streamModelWith(chatCompletions(), { body: vendorBody })).toEqualTypeOf<ModelStream>()
// @ts-expect-error the adapter has its profile already
streamModelWith(chatCompletions(), { body: vendorBody, profile: {} })
// @ts-expect-error an adapter goes to the function that takes one
streamModel({ api: 'responses', body: vendorBody, adapter: chatCompletions() })

// It takes the place of any `fetch`.
expectTypeOf(guardFetch()).toEqualTypeOf<typeof fetch>()
expectTypeOf(guardFetchWith(chatCompletions())).toEqualTypeOf<typeof fetch>()
// @ts-expect-error the adapter was told its profile when it was made
guardFetchWith(chatCompletions(), fetch, { profile: {} })
// @ts-expect-error modes are a closed union
guardFetch(fetch, { mode: 'watch' })
