import type { Api } from 'streamfold'
import { editBody, NO_BYTES, truncate } from './edit-body.ts'
import { newEvent } from './event-data.ts'
import type { FaultDefinition } from './fault-definition.ts'
import { NotApplicable } from './fault-target.ts'
import type { FaultTarget } from './fault-target.ts'
import { wholeNumber } from '../replay/quantity.ts'

/** Events that are lost, come twice, change places, or should not be there. */
export const EVENT_FAULTS: readonly FaultDefinition[] = [
  {
    name: 'dup-event',
    about: 'an event comes twice',
    faults: ['F133'],
    calls: 'untold',
    apply: (target) => {
      const unit = target.unit()
      const { to } = target.units[unit]!
      return editBody(target.script, [{ from: to, to, bytes: target.bytesOf(unit) }])
    },
  },
  {
    name: 'dup-read',
    about: 'a read comes twice',
    faults: ['F133'],
    calls: 'untold',
    apply: (target) => {
      const { writes } = target.script
      const index = writeAt(target, target.offset())
      return { ...target.script, writes: [...writes.slice(0, index + 1), ...writes.slice(index)] }
    },
  },
  {
    name: 'drop-event',
    about: 'an event is lost',
    faults: ['F128'],
    calls: 'untold',
    apply: (target) => editBody(target.script, [{ ...target.units[target.unit()]!, bytes: NO_BYTES }]),
  },
  {
    name: 'reorder',
    about: 'two events change places: this one and the next, or events A and B',
    usage: 'A,B',
    faults: ['F160'],
    calls: 'untold',
    apply: reorder,
  },
  {
    name: 'inband-error',
    about: 'the provider reports an error in the stream, and ends it',
    faults: ['F107', 'F155'],
    calls: 'same-or-none',
    apply: (target) => {
      const at = target.offset() >= target.body.length ? target.body.length : target.units[target.unit()]!.from
      const error = target.framing === 'aws-event-stream' ? undefined : IN_BAND_ERRORS[target.api]
      if (error === undefined) throw new NotApplicable('errors of this wire format are binary frames')
      const before = truncate(target.script, at, 'complete')
      return editBody(before, [{ from: at, to: at, bytes: newEvent(target.framing, error.data, error.event) }])
    },
  },
  {
    name: 'no-done',
    about: 'the terminal signal is missing',
    faults: ['F101', 'F144', 'F156'],
    calls: 'same-or-unproven',
    apply: (target) => {
      const { from } = target.units[target.terminal]!
      return truncate(target.script, from, target.script.end.kind)
    },
  },
  {
    name: 'double-done',
    about: 'the terminal signal comes twice',
    faults: ['F168'],
    calls: 'same',
    apply: (target) => {
      const { to } = target.units[target.terminal]!
      return editBody(target.script, [{ from: to, to, bytes: target.bytesOf(target.terminal) }])
    },
  },
  {
    name: 'data-after-done',
    about: 'output comes again behind the terminal signal',
    faults: ['F102'],
    calls: 'same',
    apply: (target) => {
      const { to } = target.units[target.terminal]!
      return editBody(target.script, [{ from: to, to, bytes: target.bytesOf(target.firstOutput) }])
    },
  },
]

function writeAt({ script }: FaultTarget, offset: number): number {
  if (script.writes.length === 0) throw new NotApplicable('the body is empty')
  let end = 0
  const index = script.writes.findIndex(({ bytes }) => (end += bytes.length) > offset)
  return index < 0 ? script.writes.length - 1 : index
}

function reorder(target: FaultTarget): ReturnType<FaultDefinition['apply']> {
  const { events, args } = target
  const numbers = args.map((arg) => wholeNumber(arg, 'number of an event'))
  const first = numbers[0] === undefined ? target.unit() : events[numbers[0] - 1]
  const second = numbers[1] === undefined ? (first ?? 0) + 1 : events[numbers[1] - 1]
  const [a, b] = [Math.min(first ?? -1, second ?? -1), Math.max(first ?? -1, second ?? -1)]
  if (a < 0 || b >= target.units.length || a === b) throw new NotApplicable('the stream has no two such events')
  return editBody(target.script, [
    { ...target.units[a]!, bytes: target.bytesOf(b) },
    { ...target.units[b]!, bytes: target.bytesOf(a) },
  ])
}

const OPENAI_ERROR = JSON.stringify({
  error: { message: 'The server had an error while processing your request.', type: 'server_error', code: null },
})

/** How each wire format says in its stream that it failed. */
const IN_BAND_ERRORS: Readonly<Partial<Record<Api, { readonly data: string; readonly event?: string }>>> = {
  chat_completions: { data: OPENAI_ERROR },
  completions: { data: OPENAI_ERROR },
  responses: {
    event: 'error',
    data: JSON.stringify({ type: 'error', code: 'server_error', message: 'The server had an error.', param: null }),
  },
  anthropic_messages: {
    event: 'error',
    data: JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
  },
  gemini: {
    data: JSON.stringify({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
  },
  ollama: { data: JSON.stringify({ error: 'an error was encountered while running the model' }) },
}
