import type { Approval, Ledger } from '@streamfold/tools'
import type { Command } from 'commander'
import { clip } from 'streamfold/json'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { positiveIntegerOption } from '../integer-option.ts'
import { approvalsText, approvalText } from '../report-text/approval-text.ts'
import { themeOf } from '../report-text/theme.ts'
import { actorOf, KeyError, MIN_PREFIX_CHARS, refuse, withCommonOptions, withLedger } from './ledger-command.ts'
import type { LedgerFlags } from './ledger-command.ts'

interface ApprovalsFlags extends LedgerFlags {
  readonly limit?: number
}

interface DecisionFlags extends LedgerFlags {
  readonly by?: string
  readonly note?: string
}

/** Versioned names of the JSON documents. */
const LIST_SCHEMA = 'streamfold/ledger-approvals@1'
const DECIDED_SCHEMA = 'streamfold/ledger-approval@1'

const MAX_LISTED = 1000

/** `streamfold ledger approvals`: the calls that wait for a person's yes, oldest first. */
export async function ledgerApprovalsCommand(options: ApprovalsFlags, io: CommandIo): Promise<ExitCode> {
  return await withLedger(options, io, true, async ({ ledger }, tenant) => {
    const approvals = await ledger.pendingApprovals(tenant, options.limit)
    if (options.json === true) {
      await io.stdout.write(`${JSON.stringify({ schema: LIST_SCHEMA, tenant, approvals }, null, 2)}\n`)
    } else if (approvals.length === 0) {
      await io.stderr.write(
        `streamfold: no call of the tenant ${clip(tenant, 60)} waits for a yes; --tenant names another\n`,
      )
    } else await io.stdout.write(approvalsText(approvals, themeOf(io.stdout, io.env)))
    return EXIT.wanted
  })
}

/** `streamfold ledger approve` and `deny`: a person's answer. It only records it; whoever has the batch runs the call. */
export async function ledgerDecideCommand(
  id: string,
  decision: 'allow' | 'deny',
  options: DecisionFlags,
  io: CommandIo,
): Promise<ExitCode> {
  const by = actorOf(options.by, io)
  if (by.trim() === '') return await refuse('--by needs a name: who answers?', EXIT.usage, io)
  return await withLedger(options, io, false, async ({ ledger }, tenant) => {
    const { note } = options
    const approval = await ledger.decideApproval(tenant, await wholeId(ledger, tenant, id), {
      decision,
      by,
      ...(note !== undefined && { note }),
    })
    await io.stdout.write(
      options.json === true
        ? `${JSON.stringify({ schema: DECIDED_SCHEMA, ...approval }, null, 2)}\n`
        : approvalText(approval, themeOf(io.stdout, io.env)),
    )
    return EXIT.wanted
  })
}

async function wholeId(ledger: Ledger, tenant: string, given: string): Promise<string> {
  if ((await ledger.findApproval(tenant, given)) !== undefined) return given
  const fits = ({ approvalId }: Approval): boolean => approvalId.startsWith(given)
  const [first, second] =
    given.length < MIN_PREFIX_CHARS ? [] : (await ledger.pendingApprovals(tenant, MAX_LISTED)).filter(fits)
  if (first === undefined) {
    throw new KeyError(
      `no call of the tenant ${clip(tenant, 60)} waits for the answer ${clip(given, 80)}; ` +
        '`streamfold ledger approvals` shows those that do',
    )
  }
  if (second !== undefined) throw new KeyError(`${clip(given, 80)} fits several approvals; give more of the id`)
  return first.approvalId
}

/** Puts the commands under `streamfold ledger`. */
export function addApprovalCommands(ledger: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  withCommonOptions(ledger.command('approvals'))
    .description("calls that wait for a person's yes, oldest first")
    .option('--limit <n>', 'at most this many (100)', positiveIntegerOption)
    .action(async (flags: ApprovalsFlags) => done(await ledgerApprovalsCommand(flags, io)))
  const answers = [
    ['approve', 'allow', 'say yes to a call that waits; it runs when its batch is run again'],
    ['deny', 'deny', 'say no to a call that waits; it will not run'],
  ] as const
  for (const [name, decision, description] of answers) {
    withCommonOptions(ledger.command(name))
      .description(description)
      .argument('<id>', 'the id of the approval, or the beginning of it')
      .option('--by <name>', 'who answers (the user that runs the command)')
      .option('--note <text>', 'why, for the record')
      .action(async (id: string, flags: DecisionFlags) => done(await ledgerDecideCommand(id, decision, flags, io)))
  }
}
