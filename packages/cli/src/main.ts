import { Output } from './output.ts'
import { runProgram } from './program.ts'

const interrupt = new AbortController()
// Once: a second interrupt kills the process, whatever it is doing.
process.once('SIGINT', () => interrupt.abort())

process.exitCode = await runProgram(process.argv.slice(2), {
  // Opened only when it is read.
  get stdin() {
    return process.stdin
  },
  stdout: new Output(process.stdout),
  stderr: new Output(process.stderr),
  env: process.env,
  signal: interrupt.signal,
})
// An interrupted read of standard input would keep the process alive.
if (interrupt.signal.aborted) process.stdin.destroy()
