import type { DiagnosticCode } from '../chunk/diagnostic.ts'
import type { FaultCode } from '../chunk/fault.ts'
import type { Outcome } from '../chunk/outcome.ts'
import type { ReportToolCall, StreamReport } from '../engine/report.ts'
import type { Verdict } from '../engine/verdict.ts'

/** Thrown by every check that does not hold; any test runner shows it as a failed assertion. */
export class StreamAssertionError extends Error {
  override readonly name = 'AssertionError'
  /** What was looked at. */
  readonly report: StreamReport

  constructor(message: string, report: StreamReport) {
    super(message)
    this.report = report
  }
}

/** A call that a test expects. */
export interface ExpectedCall {
  readonly name: string
  /** Parsed arguments that must be equal; left out, any will do. */
  readonly arguments?: object
}

/** Checks of a report, in one chain; the first that does not hold throws with the evidence that the report has. */
export interface StreamExpectation {
  /** This rung and every rung before it passed. */
  toReach(rung: keyof Verdict): StreamExpectation
  /** This rung failed, with this code where one is given. */
  toFailAt(rung: keyof Verdict, code?: FaultCode | DiagnosticCode): StreamExpectation
  toEnd(outcome: Outcome): StreamExpectation
  toFailWith(code: FaultCode): StreamExpectation
  /** The text of choice 0. */
  toSay(text: string | RegExp): StreamExpectation
  /** Exactly these calls of choice 0 were released, in this order. */
  toReleaseCalls(...calls: readonly ExpectedCall[]): StreamExpectation
  /** A call of this name was not released, and this is why. */
  toRefuseCall(name: string, code: FaultCode): StreamExpectation
  toHaveFinding(code: DiagnosticCode): StreamExpectation
  toTakeAttempts(count: number): StreamExpectation
}

/**
 * Checks a stream in a test: `expectStream(stream.report()).toReach('tool_args_complete')`. Works with every test runner.
 *
 * @throws StreamAssertionError from each check
 */
export function expectStream(report: StreamReport): StreamExpectation {
  const check = (holds: boolean, wanted: string, found: string): StreamExpectation => {
    if (!holds) throw new StreamAssertionError(`expected ${wanted}, but ${found}${context(report)}`, report)
    return expectation
  }
  const expectation: StreamExpectation = {
    toReach(rung) {
      const rungs = Object.keys(report.verdict) as (keyof Verdict)[]
      const upTo = rungs.slice(0, rungs.indexOf(rung) + 1)
      // A rung that does not apply holds nothing up, but can't be reached itself.
      const bad = upTo.find((name) => {
        const { state } = report.verdict[name]
        return state !== 'pass' && (name === rung || state !== 'not_applicable')
      })
      return check(upTo.length > 0 && bad === undefined, `the stream to reach ${rung}`, rungText(report, bad ?? rung))
    },
    toFailAt(rung, code) {
      const { state, code: found } = report.verdict[rung]
      const wanted = `${rung} to fail${code === undefined ? '' : ` with ${code}`}`
      return check(state === 'fail' && (code === undefined || found === code), wanted, rungText(report, rung))
    },
    toEnd: (outcome) =>
      check(report.outcome === outcome, `outcome ${outcome}`, `it is ${report.outcome ?? 'still open'}`),
    toFailWith: (code) =>
      check(report.error?.code === code, `the stream to fail with ${code}`, `it ended as ${report.outcome ?? 'open'}`),
    toSay(text) {
      const said = report.choices.find(({ index }) => index === 0)?.text ?? ''
      const holds = typeof text === 'string' ? said === text : text.test(said)
      return check(
        holds,
        `the text ${typeof text === 'string' ? JSON.stringify(text) : String(text)}`,
        `it is ${JSON.stringify(said)}`,
      )
    },
    toReleaseCalls(...calls) {
      const released = callsOf(report).filter(({ code }) => code === null)
      const holds =
        released.length === calls.length &&
        calls.every((call, i) => released[i]!.name === call.name && hasArguments(released[i]!, call.arguments))
      return check(holds, `the calls ${calls.map(wantedText).join(', ') || '(none)'} to be released`, callsText(report))
    },
    toRefuseCall: (name, code) =>
      check(
        callsOf(report).some((call) => call.name === name && call.code === code),
        `the call of ${name} to be refused with ${code}`,
        callsText(report),
      ),
    toHaveFinding(code) {
      const codes = report.diagnostics.map((finding) => finding.code)
      return check(codes.includes(code), `the finding ${code}`, `there are ${codes.join(', ') || 'none'}`)
    },
    toTakeAttempts: (count) =>
      check(report.attempts.length === count, `${count} attempts`, `there were ${report.attempts.length}`),
  }
  return expectation
}

function callsOf(report: StreamReport): readonly ReportToolCall[] {
  return report.choices.find(({ index }) => index === 0)?.toolCalls ?? []
}

function hasArguments({ parsedArguments }: ReportToolCall, wanted: object | undefined): boolean {
  return wanted === undefined || canonical(parsedArguments) === canonical(wanted)
}

/** JSON with keys in one order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

function wantedText({ name, arguments: wanted }: ExpectedCall): string {
  return `${name}(${wanted === undefined ? '…' : JSON.stringify(wanted)})`
}

function callsText(report: StreamReport): string {
  const texts = callsOf(report).map(
    ({ name, argumentsText, code }) => `${name ?? '(no name)'}(${argumentsText}) ${code ?? 'released'}`,
  )
  return texts.length === 0 ? 'there are no calls' : `there are ${texts.join(', ')}`
}

function rungText(report: StreamReport, rung: keyof Verdict): string {
  if (!(rung in report.verdict)) return `there is no rung ${rung}`
  const { state, code, message, event, offset } = report.verdict[rung]
  const where = [event === undefined ? '' : ` at event ${event}`, offset === undefined ? '' : `, byte ${offset}`].join(
    '',
  )
  return `${rung} is ${state}${code === undefined ? '' : ` (${code})`}${where}${message === undefined ? '' : `: ${message}`}`
}

function context({ error }: StreamReport): string {
  return error === null ? '' : `\nthe stream failed: ${error.code} in ${error.phase}: ${error.message}`
}
