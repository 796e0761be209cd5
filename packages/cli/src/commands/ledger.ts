import type { Execution, ExecutionDetails, ExecutionState, Ledger, RefusedState } from '@streamfold/tools'
import { Option } from 'commander'
import type { Command } from 'commander'
import { clip } from 'streamfold/json'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { positiveIntegerOption } from '../integer-option.ts'
import { executionDetailsText, executionListText, refusedListText } from '../report-text/execution-text.ts'
import { themeOf } from '../report-text/theme.ts'
import { addApprovalCommands } from './ledger-approvals.ts'
import { actorOf, KeyError, MIN_PREFIX_CHARS, refuse, withCommonOptions, withLedger } from './ledger-command.ts'
import type { LedgerFlags } from './ledger-command.ts'

export interface LedgerListOptions extends LedgerFlags {
  readonly state?: readonly (ExecutionState | RefusedState)[]
  readonly run?: string
  readonly limit?: number
}

export interface LedgerSettleOptions extends LedgerFlags {
  readonly as: 'succeeded' | 'failed'
  readonly evidence: string
  readonly by?: string
  /** JSON that the tool would have given. */
  readonly result?: string
  /** What the model is told of a failure. */
  readonly message?: string
}

/** Versioned names of the JSON documents. */
const LIST_SCHEMA = 'streamfold/ledger-list@1'
const SHOW_SCHEMA = 'streamfold/ledger-execution@1'

const MAX_LISTED = 1000

/** What somebody may look for here in vain. */
const NOT_LISTED = 'Calls that wait for a yes are under `approvals`.'

const EXECUTED: readonly ExecutionState[] = ['ready', 'executing', 'unknown', 'succeeded', 'failed']
const REFUSED: readonly RefusedState[] = ['denied', 'rejected', 'cancelled']

/** `streamfold ledger list`: the executions of a tenant, and the calls that have none because they were refused, newest first. */
export async function ledgerListCommand(options: LedgerListOptions, io: CommandIo): Promise<ExitCode> {
  return await withLedger(options, io, true, async ({ ledger }, tenant) => {
    const { state, run, limit = 100, json } = options
    const wanted = { limit, ...(run !== undefined && { runId: run }) }
    const states = EXECUTED.filter((one) => state?.includes(one) !== false)
    const executions = states.length === 0 ? [] : await ledger.list(tenant, { ...wanted, states })
    const refused = await ledger.refusedCalls(tenant, {
      ...wanted,
      states: REFUSED.filter((one) => state?.includes(one) !== false),
    })
    if (json === true) {
      await io.stdout.write(`${JSON.stringify({ schema: LIST_SCHEMA, tenant, executions, refused }, null, 2)}\n`)
    } else if (executions.length === 0 && refused.length === 0) {
      await io.stderr.write(
        `streamfold: nothing of the tenant ${clip(tenant, 60)} fits; --tenant names another. ${NOT_LISTED}\n`,
      )
    } else {
      const theme = themeOf(io.stdout, io.env)
      const tables = [
        ...(executions.length > 0 ? [executionListText(executions, theme)] : []),
        ...(refused.length > 0 ? [refusedListText(refused, theme)] : []),
      ]
      await io.stdout.write(tables.join('\n'))
    }
    return EXIT.wanted
  })
}

/** `streamfold ledger show`: one execution with its attempts, calls and trail. */
export async function ledgerShowCommand(key: string, options: LedgerFlags, io: CommandIo): Promise<ExitCode> {
  return await withLedger(options, io, true, async ({ ledger }, tenant) => {
    const details = await ledger.show(tenant, await wholeKey(ledger, tenant, key))
    if (details === undefined) throw noSuchKey(key, tenant)
    await writeDetails(details, options, io)
    return EXIT.wanted
  })
}

/** `streamfold ledger settle`: a person says what became of an execution that is `unknown`. */
export async function ledgerSettleCommand(key: string, options: LedgerSettleOptions, io: CommandIo): Promise<ExitCode> {
  const misuse = misuseOf(options)
  if (misuse !== undefined) return await refuse(misuse, EXIT.usage, io)
  const { as, evidence, result, message = evidence } = options
  const by = actorOf(options.by, io)
  return await withLedger(options, io, false, async ({ ledger }, tenant) => {
    const whole = await wholeKey(ledger, tenant, key)
    await ledger.settle(
      tenant,
      whole,
      as === 'succeeded'
        ? { state: as, by, evidence, ...(result !== undefined && { resultJson: result }) }
        : { state: as, by, evidence, message },
    )
    const details = await ledger.show(tenant, whole)
    if (details !== undefined) await writeDetails(details, options, io)
    return EXIT.wanted
  })
}

function misuseOf({ as, result, message, evidence }: LedgerSettleOptions): string | undefined {
  if (evidence.trim() === '') return '--evidence needs a sentence: how is it known?'
  if (as === 'failed') return result === undefined ? undefined : '--result goes with --as succeeded'
  if (message !== undefined) return '--message goes with --as failed'
  if (result === undefined) return undefined
  try {
    JSON.parse(result)
    return undefined
  } catch {
    return '--result is no JSON; a text needs its quotes: \'"done"\''
  }
}

async function writeDetails(details: ExecutionDetails, { json }: LedgerFlags, io: CommandIo): Promise<void> {
  await io.stdout.write(
    json === true
      ? `${JSON.stringify({ schema: SHOW_SCHEMA, ...details }, null, 2)}\n`
      : executionDetailsText(details, themeOf(io.stdout, io.env)),
  )
}

/** Keys are long: the beginning of one is enough while it fits one execution only. */
async function wholeKey(ledger: Ledger, tenant: string, given: string): Promise<string> {
  if ((await ledger.find(tenant, given)) !== undefined) return given
  if (given.length < MIN_PREFIX_CHARS) throw noSuchKey(given, tenant)
  const fits = ({ key }: Execution): boolean => key.startsWith(given) || hashOf(key).startsWith(given)
  const [first, second] = (await ledger.list(tenant, { limit: MAX_LISTED })).filter(fits)
  if (first === undefined) throw noSuchKey(given, tenant)
  if (second !== undefined) throw new KeyError(`${clip(given, 80)} fits several executions; give more of the key`)
  return first.key
}

const hashOf = (key: string): string => key.slice(key.indexOf(':') + 1)

function noSuchKey(key: string, tenant: string): KeyError {
  return new KeyError(
    `the tenant ${clip(tenant, 60)} has no execution ${clip(key, 80)}; \`streamfold ledger list\` shows those there are`,
  )
}

/** Puts the commands into a program. */
export function addLedgerCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  const ledger = program.command('ledger').description('what tools did, once each, and the calls that wait for a yes')
  withCommonOptions(ledger.command('list'))
    .description('executions, and calls that were refused or denied and have none, newest first')
    .addOption(new Option('--state <name...>', 'only these states').choices([...EXECUTED, ...REFUSED]))
    .option('--run <id>', 'only those of a run')
    .option('--limit <n>', 'at most this many of each (100)', positiveIntegerOption)
    .action(async (flags: LedgerListOptions) => done(await ledgerListCommand(flags, io)))
  withCommonOptions(ledger.command('show'))
    .description('one execution with its attempts, calls and trail')
    .argument('<key>', 'its key, or the beginning of it')
    .action(async (key: string, flags: LedgerFlags) => done(await ledgerShowCommand(key, flags, io)))
  withCommonOptions(ledger.command('settle'))
    .description('say what became of an execution that is unknown')
    .argument('<key>', 'its key, or the beginning of it')
    .addOption(
      new Option('--as <state>', 'what it turned out to be').choices(['succeeded', 'failed']).makeOptionMandatory(),
    )
    .requiredOption('--evidence <text>', 'how it is known, for the trail')
    .option('--by <name>', 'who says so (the user that runs the command)')
    .option('--result <json>', 'what the tool would have given, for --as succeeded')
    .option('--message <text>', 'what the model is told, for --as failed (the evidence)')
    .action(async (key: string, flags: LedgerSettleOptions) => done(await ledgerSettleCommand(key, flags, io)))
  addApprovalCommands(ledger, io, done)
  ledger.addHelpText('after', HELP)
}

const HELP = `
Exit codes: 0 done, 1 the execution can't be settled or the call was answered before or too late, 2 usage, 3 no such
ledger, execution or approval, or it can't be opened, 5 internal error.`
