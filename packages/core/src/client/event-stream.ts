import type { StreamChunk } from '../chunk/chunk.ts'
import { StreamError } from '../chunk/stream-error.ts'
import type { ServerSentEvent } from '../sse/event.ts'
import { createEventStreamParser } from '../sse/parse.ts'
import type { EventStreamParser, EventStreamParserOptions } from '../sse/parse.ts'
import { BatchIterator } from './batch-iterator.ts'
import type { BatchedIterator, BatchMachine } from './batch-iterator.ts'
import { checkSource } from './byte-source.ts'
import type { ByteSource } from './byte-source.ts'

/**
 * The events of a `text/event-stream` body, one by one. Reads only when asked; leaving the loop cancels the source.
 *
 * @throws StreamError `event_limit_exceeded` where an event is longer than `maxEventBytes` (default 8 MiB)
 * @throws TypeError for what is no source, a Response for example
 */
export function parseEventStream(
  source: ByteSource,
  options: EventStreamParserOptions = {},
): BatchedIterator<ServerSentEvent> {
  checkSource('parseEventStream', source)
  return new BatchIterator(source, new EventMachine(options))
}

/**
 * The same as a `TransformStream`, for a pipeline that is made of streams. Each event is a hop through two queues then, which costs
 * several times as much as parsing it: use it at the edge, never inside.
 *
 * Errors the stream with a StreamError `event_limit_exceeded` where an event is too long.
 */
export function eventStreamTransform(
  options: EventStreamParserOptions = {},
): TransformStream<Uint8Array, ServerSentEvent> {
  const machine = new EventMachine(options)
  const give = (events: readonly ServerSentEvent[], to: TransformStreamDefaultController<ServerSentEvent>): void => {
    for (const event of events) to.enqueue(event)
    if (machine.fault !== undefined) to.error(machine.fault)
  }
  return new TransformStream({
    transform: (bytes, controller) => give(machine.push(bytes), controller),
    flush: (controller) => give(machine.end(), controller),
  })
}

/**
 * The chunks of a body, by a mapping of your own: for a format that has no adapter yet, or as a first look at a stream.
 * `map` gives the chunks of one event, or nothing. It does not see how the stream ended; the engine does.
 *
 * @throws StreamError as {@link parseEventStream}, and whatever `map` throws
 */
export function mapEventStream(
  source: ByteSource,
  map: (event: ServerSentEvent) => readonly StreamChunk[] | StreamChunk | undefined,
  options: EventStreamParserOptions = {},
): BatchedIterator<StreamChunk> {
  checkSource('mapEventStream', source)
  const events = new EventMachine(options)
  return new BatchIterator(source, {
    get done() {
      return events.done
    },
    get fault() {
      return events.fault
    },
    push: (bytes) => events.push(bytes).flatMap((event) => map(event) ?? []),
    end: () => events.end().flatMap((event) => map(event) ?? []),
  })
}

class EventMachine implements BatchMachine<ServerSentEvent> {
  private readonly parser: EventStreamParser

  constructor(options: EventStreamParserOptions) {
    this.parser = createEventStreamParser(options)
  }

  get done(): boolean {
    return this.parser.overflow !== undefined
  }

  get fault(): StreamError | undefined {
    const { overflow } = this.parser
    return overflow === undefined ? undefined : tooLong(overflow)
  }

  push(bytes: Uint8Array): readonly ServerSentEvent[] {
    return this.parser.push(bytes)
  }

  end(): readonly ServerSentEvent[] {
    return this.parser.end()
  }
}

function tooLong({ offset, limit }: { readonly offset: number; readonly limit: number }): StreamError {
  return new StreamError({
    code: 'event_limit_exceeded',
    phase: 'framing',
    retryable: 'no',
    offset,
    message: `an event is longer than ${limit} bytes; raise maxEventBytes if such events are expected`,
  })
}
