import type { StreamReport } from 'streamfold'
import { applyFaults } from '../faults/apply-faults.ts'
import { faultNamed } from '../faults/catalogue.ts'
import { parseFaultPlans } from '../faults/default-faults.ts'
import { faultText } from '../faults/fault-spec.ts'
import type { FaultSpec } from '../faults/fault-spec.ts'
import { cutPlanText, cutScript } from '../replay/cut-plan.ts'
import type { CutPlan } from '../replay/cut-plan.ts'
import { bodyOf, scriptOf } from '../replay/replay-script.ts'
import type { ReplayScript } from '../replay/replay-script.ts'
import { responseOf } from '../replay/replay-response.ts'
import { serveScript } from '../replay/replay-server.ts'
import { retime } from '../replay/timing.ts'
import { firstDifference } from './difference.ts'
import { readSamples } from './golden-sample.ts'
import type { GoldenSample } from './golden-sample.ts'
import { playSample } from './play-sample.ts'
import { cutsOf, parseVerifyPlans } from './verify-plan.ts'

/** A call that a client under test would run. */
export interface ContractCall {
  readonly name: string
  /** Parsed. */
  readonly arguments: unknown
}

export interface ContractOptions {
  /** `test` of vitest or of node:test; anything that takes a name and an async function. */
  readonly test: (name: string, run: () => Promise<void>) => unknown
  /**
   * The client under test: reads the response and gives the calls that it would run. A rejection means that it runs none. `sample`
   * tells the wire format and the file.
   */
  readonly read?: (response: Response, sample: GoldenSample) => Promise<readonly ContractCall[]>
  /** As `read`, for a client that wants an address: `url` is that of the recorded request, at a real server on this machine. */
  readonly request?: (url: string, sample: GoldenSample) => Promise<readonly ContractCall[]>
  /** As in `verify`. Default `event,byte,random:20`. */
  readonly plans?: string
  /** As in `verify`. Default `default`, less the faults after which a connection stays open for ever. */
  readonly faults?: string
  /** The client has timers of its own, and is short of patience: test it with streams that never end, too. Default false. */
  readonly endless?: boolean
}

/**
 * Registers tests of a client against golden samples. For each sample: one of the recording as it is, whose calls must be those of its
 * expected file, or those that this library releases where it has none; one per plan, where they must be the same as for the recording
 * as it is; and one per fault, where they must be the same or none, never other ones. A test says in its failure which cut or fault to
 * replay.
 *
 * @throws SampleError for a sample that can't be read
 * @throws ReplaySyntaxError for a plan or a fault that is not known
 */
export function contract(paths: string | readonly string[], options: ContractOptions): void {
  const plans = parseVerifyPlans(options.plans ?? 'event,byte,random:20')
  const faults = parseFaultPlans(options.faults ?? 'default').filter((specs) => options.endless === true || ends(specs))
  for (const sample of readSamples(typeof paths === 'string' ? [paths] : paths)) {
    const script = retime(scriptOf(sample.recording), { kind: 'none' })
    // A recording that a timer ended stays open until its reader's own timer ends it.
    if (options.endless !== true && (script.end.kind === 'timeout' || script.end.kind === 'open')) continue
    let wholeCalls: Promise<readonly ContractCall[]> | undefined
    const whole = (): Promise<readonly ContractCall[]> => (wholeCalls ??= callsOf(sample, script, options))
    options.test(`${sample.name}: recorded`, async () => {
      sameCalls(releasedIn(sample), await whole(), `${sample.name} as it was recorded gives other calls`)
    })
    for (const plan of plans) {
      const name =
        plan.kind === 'one'
          ? cutPlanText(plan.plan)
          : plan.kind === 'seeds'
            ? `random:${plan.from}..${plan.to}`
            : plan.kind
      options.test(`${sample.name}: ${name}`, async () => {
        const wanted = await whole()
        for (const { text, cuts } of cutsOf([plan], bodyOf(script))) {
          const cut: CutPlan = { kind: 'at', offsets: cuts }
          const calls = await callsOf(sample, cutScript(script, cut), options)
          sameCalls(wanted, calls, `cut by the plan ${text}, ${sample.name} gives other calls`)
        }
      })
    }
    for (const specs of faults) {
      const text = specs.map(faultText).join('+')
      const faulted = applyFaults(script, specs, { api: sample.api, profile: sample.options.profile })
      if (faulted.missed.length > 0 || !promises(specs, sample)) continue
      options.test(`${sample.name}: ${text}`, async () => {
        const wanted = await whole()
        const calls = await callsOf(sample, retime(faulted.script, { kind: 'none' }), options)
        if (calls.length > 0) sameCalls(wanted, calls, `under the fault ${text}, ${sample.name} gives other calls`)
      })
    }
  }
}

function ends(specs: readonly FaultSpec[]): boolean {
  return !specs.some(
    ({ name, args }) => name === 'stay-open' || (name === 'stall' && (args[0] ?? 'forever') === 'forever'),
  )
}

async function callsOf(
  sample: GoldenSample,
  script: ReplayScript,
  { read, request }: ContractOptions,
): Promise<readonly ContractCall[]> {
  if (read === undefined && request === undefined) throw new TypeError('contract needs a client: `read` or `request`')
  try {
    if (read !== undefined) return await read(responseOf(script), sample)
    return await overHttp(sample, script, request!)
  } catch {
    return []
  }
}

async function overHttp(
  sample: GoldenSample,
  script: ReplayScript,
  request: NonNullable<ContractOptions['request']>,
): Promise<readonly ContractCall[]> {
  const server = await serveScript(script)
  const recorded = sample.recording.request?.url
  const path = recorded === undefined ? '/' : new URL(recorded).pathname
  try {
    return await request(`${server.url}${path}`, sample)
  } finally {
    await server.close()
  }
}

/** Is anything promised about the calls of this sample under these faults? */
function promises(specs: readonly FaultSpec[], sample: GoldenSample): boolean {
  const promised = specs.map(({ name }) => faultNamed(name).calls)
  if (promised.includes('untold')) return false
  if (!promised.includes('same-or-unproven')) return true
  // The fault may take away what speaks against a call.
  return choicesOf(sample).every(({ toolCalls }) => toolCalls.every(({ code }) => code === null))
}

function choicesOf(sample: GoldenSample): StreamReport['choices'] {
  return (sample.expected?.report ?? playSample(sample, sample.recording).report).choices
}

/** The calls that may be run, choice by choice. */
function releasedIn(sample: GoldenSample): readonly ContractCall[] {
  return choicesOf(sample).flatMap(({ toolCalls }) =>
    toolCalls
      .filter(({ code }) => code === null)
      .map((call) => ({ name: call.name ?? '', arguments: call.parsedArguments })),
  )
}

function sameCalls(wanted: readonly ContractCall[], calls: readonly ContractCall[], message: string): void {
  const difference = firstDifference(plain(wanted), plain(calls))
  if (difference === undefined) return
  const { path, expected, actual } = difference
  throw new Error(`${message}: at ${path} ${JSON.stringify(expected)} became ${JSON.stringify(actual)}`)
}

function plain(calls: readonly ContractCall[]): unknown {
  return JSON.parse(JSON.stringify(calls.map(({ name, arguments: args }) => ({ name, arguments: args }))))
}
