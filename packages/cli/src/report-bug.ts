import type { CommandIo } from './command-io.ts'
import { EXIT } from './exit-code.ts'
import type { ExitCode } from './exit-code.ts'
import { messageOf } from './message-of.ts'

/** Tells of an error that no code expected; the stack is for those who ask for it. */
export async function reportBug(error: unknown, { stderr, env }: CommandIo): Promise<ExitCode> {
  const said = messageOf(error)
  const debug = env['STREAMFOLD_DEBUG'] === '1'
  const stack = debug && error instanceof Error ? `\n${error.stack ?? ''}` : ''
  const hint = debug ? '' : '; STREAMFOLD_DEBUG=1 shows where'
  try {
    await stderr.write(`streamfold: internal error: ${said}${hint}${stack}\n`)
  } catch {
    // Nothing can be said any more; the exit code still can.
  }
  return EXIT.bug
}
