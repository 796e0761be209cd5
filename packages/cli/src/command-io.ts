import type { Output } from './output.ts'

/** Everything a command touches, so that a test can hand it in. */
export interface CommandIo {
  /** Reads of standard input. */
  readonly stdin: AsyncIterable<Uint8Array | string>
  /** Results. */
  readonly stdout: Output
  /** Progress and messages. */
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted on SIGINT. */
  readonly signal: AbortSignal
}
