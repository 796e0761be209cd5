import type { FaultCode } from '../chunk/fault.ts'

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
