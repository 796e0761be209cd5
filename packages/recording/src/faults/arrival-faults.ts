import { durationMs, wholeNumber } from '../replay/quantity.ts'
import { refineScript } from '../replay/cut-plan.ts'
import type { ReplayScript, ScriptWrite } from '../replay/replay-script.ts'
import { pauseAt, truncate } from './edit-body.ts'
import type { FaultDefinition } from './fault-definition.ts'
import { NotApplicable } from './fault-target.ts'
import type { FaultTarget } from './fault-target.ts'

/** When bytes arrive, and in which pieces. What they say stays as it is. */
export const ARRIVAL_FAULTS: readonly FaultDefinition[] = [
  {
    name: 'stall',
    about: 'silence, for a while or for ever, with the connection open',
    usage: 'DURATION|forever',
    faults: ['F118'],
    calls: 'same-or-unproven',
    apply: (target) => {
      const how = target.args[0] ?? 'forever'
      if (how === 'forever') return truncate(target.script, target.offset(), 'open')
      return pauseAt(target.script, target.offset(), durationMs(how))
    },
  },
  {
    name: 'delay',
    about: 'the response head and everything behind it come later',
    usage: 'DURATION',
    faults: ['F191'],
    calls: 'same',
    apply: ({ script, args }) => late(script, durationMs(args[0] ?? '1s') * 1000),
  },
  {
    name: 'slow',
    about: 'a line of so many bytes per second',
    usage: 'BYTES_PER_SECOND',
    faults: ['F121'],
    calls: 'same',
    apply: ({ script, args }) => slow(script, Math.max(1, wholeNumber(args[0] ?? '1000', 'number of bytes'))),
  },
  {
    name: 'buffer',
    about: 'a hop holds bytes back: all of them, so many bytes, or for so long',
    usage: 'all|BYTES|DURATION',
    faults: ['F115', 'F201'],
    calls: 'same',
    apply: buffer,
  },
  {
    name: 'split-utf8',
    about: 'every character of more than one byte is cut in the middle',
    faults: ['F001'],
    calls: 'same',
    apply: ({ script, body }) =>
      refineScript(
        script,
        [...body.keys()].filter((at) => (body[at]! & 0xc0) === 0x80),
      ),
  },
]

function late(script: ReplayScript, us: number): ReplayScript {
  const { head, writes, end } = script
  return {
    ...script,
    ...(head && { head: { ...head, atUs: head.atUs + us } }),
    writes: writes.map((write) => ({ ...write, atUs: write.atUs + us })),
    end: { ...end, atUs: end.atUs + us },
  }
}

/** A recording that a timer ended would not have ended so had its bytes come at other times. */
export function needsNoTimer({ end }: ReplayScript): void {
  if (end.kind === 'timeout') throw new NotApplicable('a timer ended the recording')
}

function slow(script: ReplayScript, bytesPerSecond: number): ReplayScript {
  needsNoTimer(script)
  let freeAt = 0
  const writes = script.writes.map(({ atUs, bytes }): ScriptWrite => {
    freeAt = Math.max(freeAt, atUs) + Math.round((bytes.length / bytesPerSecond) * 1_000_000)
    return { atUs: freeAt, bytes }
  })
  return { ...script, writes, end: { ...script.end, atUs: Math.max(script.end.atUs, freeAt) } }
}

function buffer({ script, args }: FaultTarget): ReplayScript {
  needsNoTimer(script)
  const how = args[0] ?? 'all'
  const groups: ScriptWrite[][] = [[]]
  const size = /^\d+$/.test(how) ? wholeNumber(how, 'number of bytes') : Infinity
  const spanUs = how === 'all' || size < Infinity ? Infinity : durationMs(how) * 1000
  let held = 0
  for (const write of script.writes) {
    const group = groups.at(-1)!
    const isFull = held >= size || (group.length > 0 && write.atUs - group[0]!.atUs >= spanUs)
    if (isFull) groups.push([])
    held = isFull ? write.bytes.length : held + write.bytes.length
    groups.at(-1)!.push(write)
  }
  const writes = groups.flatMap((group, i) => {
    const isLast = i === groups.length - 1
    // The end of the body flushes what is still held.
    const atUs = isLast ? script.end.atUs : spanUs < Infinity ? group[0]!.atUs + spanUs : group.at(-1)!.atUs
    return group.map((write) => ({ ...write, atUs }))
  })
  return { ...script, writes }
}
