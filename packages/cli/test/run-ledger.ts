import { runProgram } from '../src/program.ts'
import { memoryIo } from './memory-io.ts'

export interface Ran {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `streamfold ledger …` on a file, as the user ann. */
export async function ledger(file: string, ...args: readonly string[]): Promise<Ran> {
  const memory = memoryIo({ env: { USER: 'ann' } })
  const exit = await runProgram(['ledger', ...args, '--ledger', file], memory.io)
  return { exit, stdout: memory.stdout(), stderr: memory.stderr() }
}
