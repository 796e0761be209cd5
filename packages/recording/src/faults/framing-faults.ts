import { lineEnd } from '../replay/body-units.ts'
import type { ReplayScript } from '../replay/replay-script.ts'
import { editBody, NO_BYTES } from './edit-body.ts'
import type { BodyEdit } from './edit-body.ts'
import type { FaultDefinition } from './fault-definition.ts'
import { NotApplicable } from './fault-target.ts'
import type { FaultTarget } from './fault-target.ts'

const CR = 0x0d
const LF = 0x0a
const BOM = Uint8Array.of(0xef, 0xbb, 0xbf)
const encoder = new TextEncoder()

/** How events are written down. */
export const FRAMING_FAULTS: readonly FaultDefinition[] = [
  {
    name: 'crlf',
    about: 'lines end with CR LF',
    faults: ['F013'],
    calls: 'same',
    apply: (target) => lineEnds(target, Uint8Array.of(CR, LF)),
  },
  {
    name: 'cr',
    about: 'lines end with CR alone',
    faults: ['F014'],
    calls: 'same',
    apply: (target) => {
      needsEventStream(target)
      return lineEnds(target, Uint8Array.of(CR))
    },
  },
  {
    name: 'bom',
    about: 'a byte order mark comes first',
    faults: ['F006'],
    calls: 'same',
    apply: (target) => {
      needsText(target)
      if (BOM.every((byte, i) => target.body[i] === byte)) throw new NotApplicable('the body begins with one')
      return editBody(target.script, [{ from: 0, to: 0, bytes: BOM }])
    },
  },
  {
    name: 'comment-flood',
    about: 'comments between all events, so many each time',
    usage: 'COUNT',
    faults: ['F010', 'F119'],
    calls: 'same',
    apply: (target) => {
      const count = Number(target.args[0] ?? 3)
      return betweenEvents(target, encoder.encode(': keep-alive\n\n'.repeat(Math.max(1, Math.min(1000, count || 1)))))
    },
  },
  {
    name: 'keepalive-data',
    about: 'events with empty data between all events',
    faults: ['F018'],
    calls: 'same',
    apply: (target) => betweenEvents(target, encoder.encode('data:\n\n')),
  },
  {
    name: 'no-space',
    about: 'no space behind the colon of a field',
    faults: ['F012'],
    calls: 'same',
    apply: (target) => perLine(target, (line) => line.replace(/^(data|event|id|retry): /, '$1:')),
  },
  {
    name: 'no-event-names',
    about: 'a hop drops the event: lines',
    faults: ['F190'],
    calls: 'same-or-none',
    apply: (target) => perLine(target, (line) => (line.startsWith('event:') ? undefined : line)),
  },
  {
    name: 'bad-utf8',
    about: 'a byte that is not UTF-8 takes the place of another',
    faults: ['F001'],
    calls: 'same-or-none',
    apply: (target) => {
      needsText(target)
      const at = target.offset()
      if (at >= target.body.length) throw new NotApplicable('the body has no byte there')
      return editBody(target.script, [{ from: at, to: at + 1, bytes: Uint8Array.of(0xff) }])
    },
  },
  {
    name: 'no-trailing-blank',
    about: 'the last event is not terminated',
    faults: ['F016'],
    calls: 'same-or-unproven',
    apply: (target) => {
      needsText(target)
      let to = target.body.length
      while (to > 0 && (target.body[to - 1] === LF || target.body[to - 1] === CR)) to--
      if (to === target.body.length) throw new NotApplicable('the body does not end with a line end')
      return editBody(target.script, [{ from: to, to: target.body.length, bytes: NO_BYTES }])
    },
  },
  {
    name: 'glue',
    about: 'the blank line between two events is lost',
    faults: ['F021'],
    calls: 'same-or-none',
    apply: (target) => {
      needsEventStream(target)
      const unit = Math.min(target.unit(), target.units.length - 2)
      const found = target.units[unit]
      if (found === undefined) throw new NotApplicable('the stream has one event only')
      const firstLineOnly = lastLineWithContent(target.body, found.from, found.to)
      return editBody(target.script, [{ from: firstLineOnly, to: found.to, bytes: NO_BYTES }])
    },
  },
  {
    name: 'strip-prefix',
    about: 'the data: prefix is lost, which leaves lines of JSON',
    faults: ['F187'],
    calls: 'same-or-none',
    apply: (target) =>
      perLine(target, (line) => (/^(?:event|id|retry|):/.test(line) ? undefined : line.replace(/^data: ?/, ''))),
  },
]

function needsText({ framing }: FaultTarget): void {
  if (framing === 'aws-event-stream') throw new NotApplicable('the body is binary')
}

function needsEventStream({ framing }: FaultTarget): void {
  if (framing !== 'sse') throw new NotApplicable('the body is no event stream')
}

function lineEnds(target: FaultTarget, wanted: Uint8Array): ReplayScript {
  needsText(target)
  const { body } = target
  const edits: BodyEdit[] = []
  for (let at = 0; at < body.length;) {
    const to = lineEnd(body, at)
    const from = contentEnd(body, at, to)
    if (from < to) edits.push({ from, to, bytes: wanted })
    at = to
  }
  return editBody(target.script, edits)
}

/** Puts bytes in front of every event but the first. */
function betweenEvents(target: FaultTarget, bytes: Uint8Array): ReplayScript {
  needsEventStream(target)
  const events = target.events.slice(1)
  if (events.length === 0) throw new NotApplicable('the stream has one event only')
  return editBody(
    target.script,
    events.map((unit) => ({ from: target.units[unit]!.from, to: target.units[unit]!.from, bytes })),
  )
}

/** Changes the beginning of lines; undefined drops a line. Bytes behind the changed prefix are not touched. */
function perLine(target: FaultTarget, change: (prefix: string) => string | undefined): ReplayScript {
  needsEventStream(target)
  const { body } = target
  const edits: BodyEdit[] = []
  for (let at = 0; at < body.length;) {
    const to = lineEnd(body, at)
    const prefixTo = Math.min(contentEnd(body, at, to), at + 'retry: '.length)
    const prefix = String.fromCharCode(...body.subarray(at, prefixTo))
    const wanted = change(prefix)
    if (wanted === undefined) edits.push({ from: at, to, bytes: NO_BYTES })
    else if (wanted !== prefix)
      edits.push({ from: at, to: prefixTo, bytes: Uint8Array.from(wanted, (character) => character.charCodeAt(0)) })
    at = to
  }
  if (edits.length === 0) throw new NotApplicable('the stream has no such line')
  return editBody(target.script, edits)
}

/** End of a line without its line end. */
function contentEnd(body: Uint8Array, from: number, to: number): number {
  let end = to
  while (end > from && (body[end - 1] === LF || body[end - 1] === CR)) end--
  return end
}

/** Offset behind the last line of a unit that says something. */
function lastLineWithContent(body: Uint8Array, from: number, to: number): number {
  let end = from
  for (let at = from; at < to;) {
    const next = lineEnd(body, at)
    if (contentEnd(body, at, next) > at) end = next
    at = next
  }
  return end
}
