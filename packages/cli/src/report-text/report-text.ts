import type { Diagnostic, FaultCode, Outcome, StreamReport, Verdict } from 'streamfold'
import type { Hint } from 'streamfold/engine'
import { createWholenessScanner, utf8Length } from 'streamfold/json'
import { displayWidth, fit, fitTail, padEnd, wrap } from './display-width.ts'
import { faultsPage } from './faults-page.ts'
import { nextStep } from './next-step.ts'
import { reservationOf, unreleasedCalls } from './reservation.ts'
import { bytesText, counted, durationText, millisecondsText } from './quantities.ts'
import type { Theme } from './theme.ts'

export interface ReportTextOptions {
  readonly theme: Theme
  /** The outcome is one that the caller accepts. */
  readonly wanted: boolean
  /** Where the evidence points. */
  readonly hints?: readonly Hint[]
  /** Leave out calls and text, which the caller shows in its own way. */
  readonly compact?: boolean
}

type Choice = StreamReport['choices'][number]
type ToolCall = Choice['toolCalls'][number]

/** One screen of an ordinary terminal. */
const SCREEN_LINES = 24
const MAX_CALLS = 5
const MAX_CHOICES = 3
const MAX_DIAGNOSTICS = 6
const MIN_DIAGNOSTICS = 2
const MAX_HINTS = 2
const MAX_EVIDENCE = 4
const LABEL_COLUMNS = 9
/** `call_` and 24 characters, `toolu_` and 24. */
const USUAL_ID_COLUMNS = 30
const MIN_NAME_COLUMNS = 12
const MAX_CELL_COLUMNS = 60

/**
 * A report for people: what broke, where, what to do, on one screen. Whatever comes from the wire or names a file is stripped of
 * control characters and clipped, so a hostile stream can't write to the terminal.
 */
export function reportText(report: StreamReport, options: ReportTextOptions): string {
  const view = new ReportView(report, options)
  return `${view.lines().join('\n')}\n`
}

class ReportView {
  readonly #report: StreamReport
  readonly #theme: Theme
  readonly #wanted: boolean
  readonly #compact: boolean
  readonly #hints: readonly Hint[]
  readonly #lines: string[] = []

  constructor(report: StreamReport, { theme, wanted, compact, hints }: ReportTextOptions) {
    this.#report = report
    this.#theme = theme
    this.#wanted = wanted
    this.#compact = compact ?? false
    this.#hints = hints ?? []
  }

  lines(): readonly string[] {
    this.#headline()
    this.#rungs()
    this.#error()
    this.#pointers()
    if (!this.#compact) {
      this.#calls()
    }
    this.#reason()
    if (!this.#compact) this.#choices()
    this.#usage()
    this.#timing()
    const code = codeOf(this.#report)
    this.#diagnostics(SCREEN_LINES - this.#lines.length - (code === undefined ? 0 : 1))
    if (code !== undefined) this.#labelled('see', `${faultsPage()}#${code}`)
    return this.#lines
  }

  #headline(): void {
    const { outcome, error, source, counts, api } = this.#report
    const theme = this.#theme
    const reserved = reservationOf(this.#report) !== undefined
    const mark = !this.#wanted ? theme.marks.fail : reserved ? theme.caution : theme.marks.pass
    const said = `${outcome ?? 'open'}${error === null ? '' : ` (${error.code})`}${this.#unreleased()}`
    const head = `${padEnd(mark, Math.max(displayWidth(theme.marks.pass), displayWidth(theme.marks.fail)))} ${said}`
    const file = source.file === undefined ? '' : source.file === '-' ? 'standard input' : source.file
    const room = theme.columns - displayWidth(head) - 2
    const name = file === '' ? '' : `  ${fitTail(file, room)}`
    this.#lines.push(`${theme.paint('bold', theme.paint(this.#colour(outcome), head))}${name}`)
    const size = `${bytesText(counts.bytes)} in ${counted(counts.events, 'event')}`
    const comments = counts.comments === 0 ? '' : `, ${counted(counts.comments, 'comment')}`
    const url = source.url === undefined ? '' : ` of ${source.url}`
    this.#lines.push(theme.paint('gray', fit(`${api}, ${KINDS[source.kind]}${url}, ${size}${comments}`, theme.columns)))
  }

  /** A stream may end well while its calls may not be run. */
  #unreleased(): string {
    if (!this.#wanted) return ''
    const calls = this.#report.choices.flatMap(({ toolCalls }) => toolCalls)
    const unreleased = unreleasedCalls(this.#report)
    return unreleased.length === 0 ? '' : `, ${unreleased.length} of ${counted(calls.length, 'call')} not released`
  }

  #colour(outcome: Outcome | null): 'green' | 'yellow' | 'red' {
    if (!this.#wanted) return 'red'
    return outcome === 'completed' && reservationOf(this.#report) === undefined ? 'green' : 'yellow'
  }

  #rungs(): void {
    const { marks, columns, separator } = this.#theme
    const markColumns = Math.max(...Object.values(marks).map(displayWidth))
    let said = ''
    for (const [name, rung] of Object.entries(this.#report.verdict) as [keyof Verdict, Verdict[keyof Verdict]][]) {
      const mark = this.#theme.paint(RUNG_COLOURS[rung.state], padEnd(marks[rung.state], markColumns))
      const facts = [
        rung.code,
        rung.callId === undefined ? undefined : `id ${fit(rung.callId, 30)}`,
        rung.event === undefined ? undefined : `event ${rung.event}`,
        rung.offset === undefined ? undefined : `byte ${rung.offset}`,
        rung.code === undefined && rung.state !== 'pass' && rung.state !== 'fail' ? STATES[rung.state] : undefined,
      ].filter((fact) => fact !== undefined)
      this.#lines.push(`  ${mark} ${padEnd(name, 20)}${facts.join(separator)}`.trimEnd())
      // The rungs stand on each other: the same cause is told once.
      if (rung.state === 'pass' || rung.message === undefined || rung.message === said) continue
      said = rung.message
      for (const line of wrap(rung.message, columns - markColumns - 5, 2))
        this.#lines.push(`${' '.repeat(markColumns + 5)}${line}`)
    }
  }

  #error(): void {
    const { error, verdict } = this.#report
    const code = codeOf(this.#report)
    if (error !== null) {
      const { provider } = error
      const facts = [
        `${error.code} in phase ${error.phase}`,
        `retryable: ${RETRYABLE[error.retryable]}`,
        error.status === undefined ? undefined : `status ${error.status}`,
        error.retryAfterMs === undefined ? undefined : `wait ${durationText(error.retryAfterMs)}`,
        provider?.code === undefined ? undefined : `provider code ${fit(provider.code, 30)}`,
        provider?.type === undefined ? undefined : `type ${fit(provider.type, 30)}`,
      ].filter((fact) => fact !== undefined)
      this.#wrapped('error', facts.join(this.#theme.separator))
      const told = Object.values(verdict).some(({ message, state }) => state !== 'pass' && message === error.message)
      if (!told) this.#wrapped('', error.message)
    }
    const step = code === undefined ? undefined : nextStep(code, this.#report)
    if (step !== undefined) this.#wrapped('next', step)
  }

  #pointers(): void {
    for (const { code, message, evidence, callId } of this.#hints.slice(0, MAX_HINTS)) {
      const of = callId === undefined ? '' : ` (${fit(callId, USUAL_ID_COLUMNS)})`
      wrap(`${code}${of}: ${message}`, this.#room, 3).forEach((line, i) => this.#labelled(i === 0 ? 'hint' : '', line))
      for (const fact of evidence.slice(0, MAX_EVIDENCE)) {
        wrap(`- ${fact}`, this.#room, 2).forEach((line, i) => this.#labelled('', i === 0 ? line : `  ${line}`))
      }
    }
  }

  #wrapped(label: string, text: string): void {
    wrap(text, this.#room, 2).forEach((line, i) => this.#labelled(i === 0 ? label : '', line))
  }

  /** Columns right of the labels. */
  get #room(): number {
    return this.#theme.columns - LABEL_COLUMNS
  }

  #labelled(label: string, text: string): void {
    this.#lines.push(`${this.#theme.paint('gray', label.padEnd(LABEL_COLUMNS))}${text}`.trimEnd())
  }

  #calls(): void {
    const calls = this.#report.choices.flatMap((choice) => choice.toolCalls.map((call) => ({ call, choice })))
    if (calls.length === 0) return
    const several = this.#report.choices.length > 1
    // Where not all fit, those with a fault of their own are why someone looks here.
    const ranked = calls.length > MAX_CALLS ? calls.toSorted((a, b) => rankOf(a.call) - rankOf(b.call)) : calls
    const shown = ranked.slice(0, MAX_CALLS).map(({ call, choice }) => rowOf(call, several ? choice.index : undefined))
    const rows = [['id', 'name', 'state', 'code', 'args', 'whole'], ...shown]
    const widths = this.#columnWidths(rows)
    rows.forEach((row, i) => {
      const line = fit(
        row.map((cell, column) => padEnd(fit(cell, widths[column]!), widths[column]!)).join('  '),
        this.#room,
      ).trimEnd()
      this.#labelled(i === 0 ? 'calls' : '', i === 0 ? this.#theme.paint('gray', line) : line)
    })
    if (calls.length > MAX_CALLS) this.#labelled('', `+${calls.length - MAX_CALLS} more: --json`)
  }

  /** What is wrong with the first call that is not released by a fault of its own, where nothing above has said it. */
  #reason(): void {
    const { error, verdict } = this.#report
    const call = unreleasedCalls(this.#report)
      .toSorted((a, b) => rankOf(a) - rankOf(b))
      .find(({ message }) => message !== undefined)
    if (call?.message === undefined) return
    const { message, argumentsOffset } = call
    const told =
      message === error?.message ||
      Object.values(verdict).some((rung) => rung.state !== 'pass' && rung.message === message)
    if (told && argumentsOffset === undefined) return
    const at = argumentsOffset === undefined ? '' : `at offset ${argumentsOffset} of its arguments`
    const place = [fit(call.callId, USUAL_ID_COLUMNS), at].filter((part) => part !== '').join(', ')
    this.#wrapped('reason', told ? place : `${place}: ${message}`)
  }

  /** Names and ids share what the other columns leave. */
  #columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
    const [id = 0, name = 0, ...rest] = rows[0]!.map((_, column) =>
      Math.max(...rows.map((row) => displayWidth(row[column]!))),
    )
    const left = this.#room - rest.reduce((sum, width) => sum + width + 2, 2)
    const nameWidth = Math.min(name, Math.max(MIN_NAME_COLUMNS, left - Math.min(id, USUAL_ID_COLUMNS)))
    return [Math.min(id, Math.max(MIN_NAME_COLUMNS, left - nameWidth)), nameWidth, ...rest]
  }

  #choices(): void {
    const { choices } = this.#report
    for (const choice of choices.slice(0, MAX_CHOICES)) {
      const prefix = choices.length > 1 ? `choice ${choice.index}: ` : ''
      this.#preview('text', prefix, choice.text)
      this.#preview('thinking', prefix, choice.reasoning)
      this.#preview('refusal', prefix, choice.refusal)
      const { reason, raw } = choice.finish
      const wire = raw === null || raw === reason ? '' : ` (wire: ${fit(raw, 40)})`
      const outcome = choices.length > 1 && choice.outcome !== null ? `, ${choice.outcome}` : ''
      this.#labelled('finish', `${prefix}${reason ?? 'none'}${wire}${outcome}`)
    }
    if (choices.length > MAX_CHOICES) this.#labelled('', `+${choices.length - MAX_CHOICES} more choices: --json`)
  }

  #preview(label: string, prefix: string, text: string): void {
    if (text === '') return
    const count = `${prefix}${counted(text.length, 'character')}: `
    this.#labelled(label, count + this.#theme.paint('gray', fit(text, this.#room - displayWidth(count))))
  }

  #usage(): void {
    const { usage } = this.#report
    if (usage === null) return
    const counters = [
      [usage.inputTokens, 'in'],
      [usage.outputTokens, 'out'],
      [usage.totalTokens, 'in all'],
      [usage.reasoningTokens || undefined, 'reasoning'],
      [usage.cachedInputTokens || undefined, 'cached'],
    ] as const
    const known = counters.filter(([count]) => count !== undefined).map(([count, name]) => `${count} ${name}`)
    if (known.length > 0) this.#labelled('usage', `tokens: ${known.join(', ')}`)
  }

  #timing(): void {
    const { timing } = this.#report
    const instants = [
      [timing.timeToHeadersMs, 'head'],
      [timing.timeToFirstByteMs, 'first byte'],
      [timing.timeToFirstOutputMs, 'first output'],
      [timing.timeToTerminalMs, 'end'],
    ] as const
    const known = instants.filter(([ms]) => ms !== null).map(([ms, name]) => `${name} ${millisecondsText(ms!)}`)
    if (known.length === 0) return
    const gap = timing.longestGapMs === null ? '' : `; longest gap ${millisecondsText(timing.longestGapMs)}`
    const arrival = timing.streaming === 'unknown' ? '' : `arrival ${timing.streaming}; `
    this.#wrapped('timing', `${arrival}ms to ${known.join(', ')}${gap}`)
  }

  #diagnostics(room: number): void {
    const all = [...this.#report.diagnostics].sort((a, b) => SEVERITIES[a.severity] - SEVERITIES[b.severity])
    if (all.length === 0) return
    const most = Math.min(MAX_DIAGNOSTICS, Math.max(MIN_DIAGNOSTICS, room))
    // The line that counts the rest takes a place too.
    const shown = all.length <= most ? all : all.slice(0, Math.max(1, most - 1))
    let spare = room - shown.length - (all.length > shown.length ? 1 : 0)
    for (const [i, diagnostic] of shown.entries()) {
      const lines = this.#finding(diagnostic, diagnostic.severity !== 'info' && spare > 0 ? 2 : 1)
      spare -= lines.length - 1
      lines.forEach((line, j) => this.#labelled(i + j === 0 ? 'findings' : '', line))
    }
    if (all.length > shown.length) this.#labelled('', `+${all.length - shown.length} more: --json`)
  }

  #finding({ code, severity, count, event, offset, hint }: Diagnostic, maxLines: number): readonly string[] {
    const { marks, warning, info, paint } = this.#theme
    const [mark, colour] = (
      { error: [marks.fail, 'red'], warning: [warning, 'yellow'], info: [info, 'gray'] } as const
    )[severity]
    const indent = displayWidth(mark) + 1
    const times = count === 1 ? '' : ` x${count}`
    const at = event === undefined ? '' : ` (event ${event}${offset === undefined ? '' : `, byte ${offset}`})`
    return wrap(`${code}${times}${at}: ${hint}`, this.#room - indent, maxLines).map((line, i) =>
      i === 0 ? `${paint(colour, mark)} ${line}` : ' '.repeat(indent) + line,
    )
  }
}

const KINDS = { body: 'bare body', recording: 'recording', live: 'live stream' } as const
const STATES = { not_reached: 'not reached', not_applicable: 'not applicable' } as const
const RETRYABLE = {
  yes: 'yes (nothing came, send it again)',
  restart: 'restart (discard what came, ask again)',
  no: 'no',
  unknown: 'unknown',
} as const
const RUNG_COLOURS = { pass: 'green', fail: 'red', not_reached: 'gray', not_applicable: 'gray' } as const
const SEVERITIES = { error: 0, warning: 1, info: 2 } as const

const OUTCOME_CODES: Partial<Record<Outcome, FaultCode>> = { truncated: 'output_truncated', refused: 'output_refused' }

/** The one code that explains the report: what ended it, else why a call is not released, else its first warning. */
function codeOf({ error, outcome, choices, verdict, diagnostics }: StreamReport): string | undefined {
  return (
    error?.code ??
    (outcome === null ? undefined : OUTCOME_CODES[outcome]) ??
    Object.values(verdict).find(({ state, code }) => state === 'fail' && code !== undefined)?.code ??
    choices.flatMap(({ toolCalls }) => toolCalls).find(({ code }) => code !== null && code !== 'batch_held')?.code ??
    diagnostics.find(({ severity }) => severity !== 'info')?.code
  )
}

function rankOf({ code }: ToolCall): number {
  return code === null ? 2 : code === 'batch_held' ? 1 : 0
}

function rowOf(call: ToolCall, choice: number | undefined): string[] {
  const { callId, name, state, code, argumentsText } = call
  return [
    fit(choice === undefined ? callId : `${choice}/${callId}`, MAX_CELL_COLUMNS),
    name === null ? '(no name)' : fit(name, MAX_CELL_COLUMNS),
    state,
    code ?? 'released',
    bytesText(utf8Length(argumentsText)),
    wholenessOf(call),
  ]
}

function wholenessOf({ code, argumentsText, parsedArguments, repairs }: ToolCall): string {
  // JSON text can't hold itself as a string: only the input of a custom tool, which is no JSON, is parsed to this.
  if (parsedArguments?.['input'] === argumentsText) return 'free text'
  return code === null && repairs !== undefined ? 'repaired' : WHOLENESS[createWholenessScanner().push(argumentsText)]
}

const WHOLENESS = { empty: 'empty', partial: 'cut', whole: 'yes', trailing: 'too much', invalid: 'not JSON' } as const
