import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const COMMAND: string = fileURLToPath(new URL('../bin/streamfold.js', import.meta.url))
export const DEMO: string = fileURLToPath(new URL('../dist/demo/main.js', import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts a built program, as a user would (`npm run build` first). Only `env` and what Node itself needs is inherited. */
export function start(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [program, ...args], { env: { PATH: process.env['PATH'] ?? '', ...env } })
}

export function finished(child: ChildProcessWithoutNullStreams): Promise<Finished> {
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
}
