export type { ServerSentEvent } from './event.ts'
export { createEventStreamParser } from './parse.ts'
export type {
  EventStreamCounts,
  EventStreamOverflow,
  EventStreamParser,
  EventStreamParserOptions,
  InvalidUtf8,
} from './parse.ts'
