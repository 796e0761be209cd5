import { expectTypeOf } from 'vitest'
import { adapterFor, createStreamEngine, mapEventStream, parseEventStream, streamResponse } from '../../src/index.ts'
import type {
  BatchedIterator,
  ByteSource,
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
