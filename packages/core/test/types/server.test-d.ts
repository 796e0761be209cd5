import { Readable } from 'node:stream'
import { expectTypeOf } from 'vitest'
import { encodeEventStream } from '../../src/server/index.ts'

const stream = encodeEventStream([], 'chat_completions')

// `Readable.fromWeb` of @types/node 20 takes no ReadableStream of TypeScript's own library, whatever is in it; this does the same.
expectTypeOf(Readable.from(stream, { objectMode: false })).toEqualTypeOf<Readable>()
expectTypeOf(new Response(stream)).toEqualTypeOf<Response>()

// @ts-expect-error the stream comes from the chunks, not from the response
encodeEventStream({ writeHead() {} }, 'chat_completions')
