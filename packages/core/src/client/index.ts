export type { ByteSource } from './byte-source.ts'
export { mapEventStream, parseEventStream } from './event-stream.ts'
export { streamResponse } from './response-stream.ts'
export type { ResponseStreamOptions } from './response-stream.ts'
