import { ReplaySyntaxError } from '../replay/replay-syntax-error.ts'
import { wholeNumber } from '../replay/quantity.ts'
import { needsNoTimer } from './arrival-faults.ts'
import { truncate } from './edit-body.ts'
import type { FaultDefinition } from './fault-definition.ts'

/** How the connection ends, and what its framing says. */
export const TRANSPORT_FAULTS: readonly FaultDefinition[] = [
  {
    name: 'cut',
    about:
      'the body ends here: cleanly (fin), by a connection that closes without the final chunk, or by a reset (rst)',
    usage: 'fin|no-final-chunk|rst',
    faults: ['F095', 'F002'],
    calls: 'same-or-unproven',
    apply: (target) => {
      const kind = { fin: 'complete', 'no-final-chunk': 'cut', rst: 'reset' } as const
      const how = target.args[0] ?? 'fin'
      if (!Object.hasOwn(kind, how))
        throw new ReplaySyntaxError(`cut: "${how}" is no way to end; known are ${Object.keys(kind).join(', ')}`)
      return truncate(target.script, target.offset(), kind[how as keyof typeof kind])
    },
  },
  {
    name: 'content-length',
    about: 'the announced length is too short (the rest is lost) or too long (the body is cut)',
    usage: 'short|long[,BYTES]',
    faults: ['F002'],
    calls: 'same-or-unproven',
    apply: (target) => {
      const [how = 'short', by = '10'] = target.args
      const bytes = wholeNumber(by, 'number of bytes')
      const { script, body } = target
      if (how === 'long')
        return {
          ...script,
          end: { ...script.end, kind: 'cut' },
          wire: { ...script.wire, framing: body.length + bytes },
        }
      if (how !== 'short') throw new ReplaySyntaxError(`content-length: "${how}" is none of short and long`)
      const left = Math.max(0, body.length - bytes)
      return { ...truncate(script, left, 'complete'), wire: { ...script.wire, framing: left } }
    },
  },
  {
    name: 'gzip',
    about: 'a hop compresses the body and flushes only at its end; a client decodes it',
    faults: ['F123'],
    calls: 'same',
    apply: ({ script }) => {
      needsNoTimer(script)
      const writes = script.writes.map((write) => ({ ...write, atUs: script.end.atUs }))
      return { ...script, writes, wire: { ...script.wire, coding: 'gzip' } }
    },
  },
  {
    name: 'stay-open',
    about: 'the connection stays open behind the last byte',
    faults: ['F102'],
    calls: 'same-or-none',
    apply: ({ script }) => ({ ...script, end: { ...script.end, kind: 'open' } }),
  },
]
