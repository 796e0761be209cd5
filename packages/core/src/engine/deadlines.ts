import type { FaultCode } from '../chunk/fault.ts'
import { clip } from '../json/clip.ts'

/** Milliseconds; `Infinity` turns a timer off. Timers are live only: a recording ends as its own end line says. */
export interface Timeouts {
  /** From the start of the request to the connection where a shell sees it (`streamfold/node`), else to the response head. */
  readonly connectMs: number
  /** From the response head to the first byte of the body; to the head, from a connection that was seen. */
  readonly firstByteMs: number
  /** Between bytes. Heartbeats count. */
  readonly idleMs: number
  /** Between steps of progress: content, arguments, a finish reason. Heartbeats do not count (fault F119). */
  readonly progressMs: number
  readonly totalMs: number
  /** After a finish reason, for the terminal signal (fault F101). */
  readonly finishGraceMs: number
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 30_000,
  idleMs: 30_000,
  progressMs: 120_000,
  totalMs: Infinity,
  finishGraceMs: 2_000,
}

/** For models that think for minutes before they speak. */
export const REASONING_TIMEOUTS: Timeouts = {
  ...DEFAULT_TIMEOUTS,
  firstByteMs: 300_000,
  idleMs: 300_000,
  progressMs: 300_000,
}

/**
 * The timers that hold: what is asked for, over the defaults. A field that is undefined asks for nothing.
 *
 * @throws TypeError for an unknown preset or timer, and for what is no time
 */
export function timeoutsOf(asked: Partial<Timeouts> | 'reasoning' = {}): Timeouts {
  if (asked === 'reasoning') return REASONING_TIMEOUTS
  if (typeof asked !== 'object' || asked === null) {
    throw new TypeError(
      `unknown timeouts ${printed(asked)}; pass the preset 'reasoning', or an object of ${TIMER_NAMES} in milliseconds`,
    )
  }
  const timeouts: Record<keyof Timeouts, number> = { ...DEFAULT_TIMEOUTS }
  for (const [name, value] of Object.entries(asked)) {
    if (!Object.hasOwn(DEFAULT_TIMEOUTS, name)) {
      throw new TypeError(`unknown timer "timeouts.${name.slice(0, 40)}"; known are ${TIMER_NAMES}`)
    }
    if (value === undefined) continue
    if (typeof value !== 'number' || !(value >= 0)) {
      throw new TypeError(
        `timeouts.${name} must be milliseconds, 0 or more, not ${printed(value)}; Infinity turns the timer off`,
      )
    }
    timeouts[name as keyof Timeouts] = value
  }
  return timeouts
}

const TIMER_NAMES = Object.keys(DEFAULT_TIMEOUTS).join(', ')

function printed(value: unknown): string {
  return typeof value === 'string' ? `"${clip(value, 40)}"` : String(value)
}

/** A timer that would fire. `finish_grace` is no fault: it ends the wait for a terminal signal after a finish reason. */
export interface Deadline {
  readonly atMs: number
  readonly code: TimeoutCode | 'finish_grace'
}

export type TimeoutCode = Extract<
  FaultCode,
  'connect_timeout' | 'first_byte_timeout' | 'idle_timeout' | 'progress_timeout' | 'total_timeout'
>

/** Instants of one response, in the caller's milliseconds; undefined until they happened. */
export interface Instants {
  readonly start: number | undefined
  readonly connected: number | undefined
  readonly headers: number | undefined
  readonly firstByte: number | undefined
  readonly lastByte: number | undefined
  readonly lastProgress: number | undefined
  readonly finish: number | undefined
}

/** The timer that fires first, or undefined when no clock was given or all are off. */
export function nextDeadline(instants: Instants, timeouts: Timeouts): Deadline | undefined {
  const { start, connected, headers, firstByte, lastByte, lastProgress, finish } = instants
  const begun = headers ?? start
  let next: Deadline | undefined
  const consider = (from: number | undefined, afterMs: number, code: Deadline['code']): void => {
    if (from === undefined) return
    const atMs = from + afterMs
    if (atMs !== Infinity && (next === undefined || atMs < next.atMs)) next = { atMs, code }
  }
  consider(start, timeouts.totalMs, 'total_timeout')
  if (firstByte === undefined) {
    const answering = headers ?? connected
    if (answering === undefined) consider(start, timeouts.connectMs, 'connect_timeout')
    else consider(answering, timeouts.firstByteMs, 'first_byte_timeout')
    return next
  }
  consider(lastByte, timeouts.idleMs, 'idle_timeout')
  consider(lastProgress ?? begun ?? firstByte, timeouts.progressMs, 'progress_timeout')
  consider(finish, timeouts.finishGraceMs, 'finish_grace')
  return next
}
