import type { CommandIo } from '../command-io.ts'
import { Output } from '../output.ts'
import { reportBug } from '../report-bug.ts'
import { runDemo } from './demo.ts'

const interrupt = new AbortController()
process.once('SIGINT', () => interrupt.abort())

const io: CommandIo = {
  stdin: process.stdin,
  stdout: new Output(process.stdout),
  stderr: new Output(process.stderr),
  env: process.env,
  signal: interrupt.signal,
}

process.exitCode = await runDemo(io).catch((error: unknown) => reportBug(error, io))
