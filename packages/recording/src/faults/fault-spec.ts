import { durationMs, wholeNumber } from '../replay/quantity.ts'
import { ReplaySyntaxError } from '../replay/replay-syntax-error.ts'

/** Where in a stream a fault strikes. */
export type FaultPlace =
  | { readonly at: 'byte'; readonly offset: number }
  | { readonly at: 'percent'; readonly percent: number }
  /** Number of the event, from 1. */
  | { readonly at: 'event'; readonly number: number }
  /** A fragment of a call; both count from 0, in order of first appearance. */
  | { readonly at: 'call'; readonly call: number; readonly fragment: number }
  /** Milliseconds since the request. */
  | { readonly at: 'time'; readonly ms: number }

/** One fault as it was asked for. */
export interface FaultSpec {
  readonly name: string
  readonly args: readonly string[]
  /** Absent: where the fault does most harm by its own default. */
  readonly place?: FaultPlace
  /** From 0 to 1; absent: always. */
  readonly probability?: number
}

/**
 * Reads faults as flags and headers write them, several joined with `+`: `NAME[:ARGUMENT,…][@PLACE][@p:PROBABILITY]`. A place is
 * `137` or `byte:137`, `50%`, `event:3`, `call:0.2` (fragment 2 of call 0) or `time:1.5s`. Whether the name is known is not asked
 * here.
 *
 * @throws ReplaySyntaxError for a text that is none of that
 */
export function parseFaults(text: string): readonly FaultSpec[] {
  return text
    .split('+')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseFault)
}

function parseFault(text: string): FaultSpec {
  const [head = '', ...triggers] = text.split('@')
  const colon = head.indexOf(':')
  const name = colon < 0 ? head : head.slice(0, colon)
  if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new ReplaySyntaxError(`"${text}" does not begin with the name of a fault`)
  let place: FaultPlace | undefined
  let probability: number | undefined
  for (const trigger of triggers) {
    if (trigger.startsWith('p:')) probability = probabilityOf(trigger.slice(2))
    else if (place === undefined) place = placeOf(trigger)
    else throw new ReplaySyntaxError(`"${text}" names two places`)
  }
  return {
    name,
    args:
      colon < 0
        ? []
        : head
            .slice(colon + 1)
            .split(',')
            .map((arg) => arg.trim()),
    ...(place !== undefined && { place }),
    ...(probability !== undefined && { probability }),
  }
}

function placeOf(text: string): FaultPlace {
  if (text.endsWith('%')) {
    const percent = Number(text.slice(0, -1))
    if (percent >= 0 && percent <= 100) return { at: 'percent', percent }
  }
  const [kind = '', value] = text.includes(':') ? text.split(':', 2) : ['byte', text]
  switch (kind) {
    case 'byte':
      return { at: 'byte', offset: wholeNumber(value ?? '', 'offset') }
    case 'event': {
      const number = wholeNumber(value ?? '', 'number of an event')
      if (number > 0) return { at: 'event', number }
      throw new ReplaySyntaxError('events count from 1')
    }
    case 'call': {
      const [call = '', fragment = '0'] = (value ?? '').split('.', 2)
      return {
        at: 'call',
        call: wholeNumber(call, 'number of a call'),
        fragment: wholeNumber(fragment, 'number of a fragment'),
      }
    }
    case 'time':
      return { at: 'time', ms: durationMs(value ?? '') }
    default:
      throw new ReplaySyntaxError(
        `"@${text}" is no place; known are @137, @50%, @event:3, @call:0.2, @time:1.5s and @p:0.5`,
      )
  }
}

function probabilityOf(text: string): number {
  const value = Number(text)
  if (text !== '' && value >= 0 && value <= 1) return value
  throw new ReplaySyntaxError(`"${text}" is no probability; it goes from 0 to 1`)
}

/** The text that {@link parseFaults} reads back. */
export function faultText({ name, args, place, probability }: FaultSpec): string {
  const at = place === undefined ? '' : `@${placeText(place)}`
  return `${name}${args.length > 0 ? `:${args.join(',')}` : ''}${at}${probability === undefined ? '' : `@p:${probability}`}`
}

function placeText(place: FaultPlace): string {
  switch (place.at) {
    case 'byte':
      return String(place.offset)
    case 'percent':
      return `${place.percent}%`
    case 'event':
      return `event:${place.number}`
    case 'call':
      return `call:${place.call}.${place.fragment}`
    case 'time':
      return `time:${place.ms}ms`
  }
}
