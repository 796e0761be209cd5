import { parseFaults } from './fault-spec.ts'
import type { FaultSpec } from './fault-spec.ts'

/**
 * The faults of `--faults default`, each with the places where it hurts. None that a wire can carry without a trace (an event that
 * is lost or comes twice where nothing numbers events): no reader could promise anything there. `--faults all` has those too.
 */
export const DEFAULT_FAULTS: readonly string[] = [
  'cut:fin@0%',
  'cut:fin@25%',
  'cut:fin@50%',
  'cut:fin@75%',
  'cut:fin@95%',
  'cut:fin@call:0.0',
  'cut:fin@call:0.1',
  'cut:fin@call:1.1',
  'cut:no-final-chunk@50%',
  'cut:no-final-chunk@call:0.1',
  'cut:no-final-chunk@100%',
  'cut:rst@50%',
  'cut:rst@call:0.1',
  'cut:rst@100%',
  'content-length:short,10',
  'content-length:long,10',
  'gzip',
  'stay-open',
  'stall:forever@50%',
  'stall:forever@call:0.1',
  'stall:5s@50%',
  'delay:2s',
  'slow:1000',
  'buffer:all',
  'buffer:4096',
  'buffer:200ms',
  'split-utf8',
  'crlf',
  'cr',
  'bom',
  'comment-flood:3',
  'keepalive-data',
  'no-space',
  'no-event-names',
  'bad-utf8@50%',
  'bad-utf8@call:0.1',
  'no-trailing-blank',
  'glue@50%',
  'strip-prefix',
  'inband-error@0%',
  'inband-error@50%',
  'inband-error@call:0.1',
  'inband-error@100%',
  'no-done',
  'double-done',
  'data-after-done',
  'html:200',
  'html:502',
  'json-error:500',
  'status:429,2',
  'wrong-content-type',
  'empty',
  'id-empty',
  'id-missing',
  'index-missing',
  'index-zero',
  'args-object',
  'args-cumulative',
  'finish-length',
  'sequence-gap@50%',
]

/** What `--faults all` adds. */
export const UNTOLD_FAULTS: readonly string[] = [
  'dup-event@25%',
  'dup-event@50%',
  'dup-event@call:0.1',
  'dup-read@50%',
  'drop-event@25%',
  'drop-event@50%',
  'drop-event@call:0.1',
  'reorder@50%',
  'reorder@call:0.1',
]

/**
 * Reads a list of fault plans, separated by `;`: each is one or several faults joined with `+`, or one of the words `default`, `all`
 * and `none`.
 *
 * @throws ReplaySyntaxError for a text that is none of that
 */
export function parseFaultPlans(text: string): readonly (readonly FaultSpec[])[] {
  return text
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '' && part !== 'none')
    .flatMap((part) => {
      if (part === 'default') return DEFAULT_FAULTS.map(parseFaults)
      if (part === 'all') return [...DEFAULT_FAULTS, ...UNTOLD_FAULTS].map(parseFaults)
      return [parseFaults(part)]
    })
}
