import { LedgerError, StoreError } from '@streamfold/tools'
import type { Command } from 'commander'
import { clip } from 'streamfold/json'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { DEFAULT_LEDGER, LOCAL_TENANT, NoLedgerError, openExistingLedger } from '../ledger-address.ts'
import type { OpenedLedger } from '../ledger-address.ts'

/** What every command on a ledger takes. */
export interface LedgerFlags {
  readonly ledger?: string
  readonly tenant?: string
  readonly json?: boolean
}

/** Keys and ids are long: this much of the beginning of one is enough. */
export const MIN_PREFIX_CHARS = 4

/** A key or an id that names nothing, or several. */
export class KeyError extends Error {}

/** Opens the ledger that the flags name, works with it, and closes it; what it refuses is told, with its exit code. */
export async function withLedger(
  { ledger: address = DEFAULT_LEDGER, tenant = LOCAL_TENANT }: LedgerFlags,
  io: CommandIo,
  readOnly: boolean,
  work: (opened: OpenedLedger, tenant: string) => Promise<ExitCode>,
): Promise<ExitCode> {
  let opened: OpenedLedger | undefined
  try {
    opened = await openExistingLedger(address, readOnly)
    return await work(opened, tenant)
  } catch (error) {
    if (error instanceof LedgerError) return await refuse(error.message, EXIT.unwanted, io)
    if (error instanceof KeyError || error instanceof NoLedgerError || error instanceof StoreError) {
      return await refuse(error.message, EXIT.unreadableInput, io)
    }
    throw error
  } finally {
    await opened?.store.close()
  }
}

export async function refuse(reason: string, exit: ExitCode, { stderr }: CommandIo): Promise<ExitCode> {
  await stderr.write(`streamfold: ${clip(reason, 600)}\n`)
  return exit
}

/** Who acts, where nobody says: the user that runs the command. */
export function actorOf(by: string | undefined, { env }: CommandIo): string {
  return by ?? env['USER'] ?? env['USERNAME'] ?? 'operator'
}

export function withCommonOptions(command: Command): Command {
  return command
    .option('--ledger <address>', `a SQLite file or a postgres:// address (${DEFAULT_LEDGER} in this folder)`)
    .option('--tenant <name>', `whose calls (${LOCAL_TENANT})`)
    .option('--json', 'as a JSON document')
}
