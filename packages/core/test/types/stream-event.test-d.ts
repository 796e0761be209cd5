import { expectTypeOf } from 'vitest'
import type {
  AttemptFailedEvent,
  ContentBlock,
  FaultCode,
  JsonObject,
  Outcome,
  ReadyToolCall,
  StreamChunk,
  StreamErrorEvent,
  StreamEvent,
  StreamReport,
  ToolCallEvent,
} from '../../src/index.ts'

/** A switch over every event compiles, and knows what each one carries. */
export function describeEvent(event: StreamEvent): string {
  switch (event.type) {
    case 'stream_started':
      expectTypeOf(event.id).toEqualTypeOf<string | undefined>()
      return `${event.api} ${event.attempt}`
    case 'attempt_failed':
      expectTypeOf(event).toEqualTypeOf<AttemptFailedEvent>()
      return `${event.attempt} ${event.code} ${event.delayMs}`
    case 'text_delta':
    case 'reasoning_delta':
    case 'refusal_delta':
      return `${event.choice}.${event.block} ${event.text}`
    case 'tool_call_started':
      return event.name
    case 'tool_call_arguments_delta':
      return event.text
    case 'tool_call_ready':
      expectTypeOf(event).toExtend<ReadyToolCall>()
      return event.argumentsText
    case 'tool_call_held':
      return event.code
    case 'tool_call_failed':
      expectTypeOf(event.name).toEqualTypeOf<string | undefined>()
      return `${event.phase} ${event.code} ${event.message}`
    case 'tool_batch_ready':
      expectTypeOf(event.calls).toEqualTypeOf<readonly ReadyToolCall[]>()
      return String(event.calls.length)
    case 'usage':
      return String(event.usage.outputTokens)
    case 'stream_completed':
      return event.outcome
    case 'stream_error':
      expectTypeOf(event).toEqualTypeOf<StreamErrorEvent>()
      return event.code
    default:
      // A new event must be taken care of here, and wherever else events are switched over.
      expectTypeOf(event).toBeNever()
      return event
  }
}

/** The same for what came. */
export function describeChunk(chunk: StreamChunk): string {
  switch (chunk.type) {
    case 'start':
    case 'block-start':
    case 'text-delta':
    case 'reasoning-delta':
    case 'refusal-delta':
    case 'tool-call-delta':
    case 'block-end':
    case 'metadata':
    case 'usage':
    case 'finish':
    case 'error':
      return chunk.type
    default:
      expectTypeOf(chunk).toBeNever()
      return chunk
  }
}

/** The same for what is shown. */
export function describeBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
    case 'opaque':
      return block.text
    case 'tool-call':
      return block.argumentsText
    default:
      expectTypeOf(block).toBeNever()
      return block
  }
}

// What an executor acts on: these fields are there, whatever came.
expectTypeOf<ReadyToolCall>().toEqualTypeOf<{
  readonly callId: string
  readonly providerCallId?: string
  readonly ordinal: number
  readonly name: string
  readonly argumentsText: string
  readonly parsedArguments: JsonObject
  readonly repairs?: readonly string[]
  readonly metadata?: Readonly<Record<string, unknown>>
}>()

// Nothing that was not released has parsed arguments to act on.
type Unreleased = Exclude<ToolCallEvent, { type: 'tool_call_ready' | 'tool_batch_ready' }>
expectTypeOf<Extract<Unreleased, { parsedArguments: unknown }>>().toBeNever()

// Both ends say how it ended, in the same words as the report, where a stream that is open has none.
expectTypeOf<Extract<StreamEvent, { type: 'stream_completed' }>['outcome']>().toEqualTypeOf<Outcome>()
expectTypeOf<StreamErrorEvent['outcome']>().toEqualTypeOf<Outcome>()
expectTypeOf<StreamReport['outcome']>().toEqualTypeOf<Outcome | null>()
expectTypeOf<StreamErrorEvent['code']>().toEqualTypeOf<FaultCode>()

// Events are for reading.
declare const completed: Extract<StreamEvent, { type: 'stream_completed' }>
// @ts-expect-error an outcome is not changed by whoever sees it
completed.outcome = 'empty'
