import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { EndKind } from 'streamfold/recording'
import { RedactionPolicy } from '../redact/redaction-policy.ts'
import type { RedactionOptions } from '../redact/redaction-policy.ts'
import { splitHeads } from '../import/response-heads.ts'
import { ExchangeRecorder } from './exchange-recorder.ts'
import type { ExchangeRecorderOptions, RecordedExchange } from './exchange-recorder.ts'

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Told every read of the command's standard output; absent: it goes where ours goes. */
  readonly onStdout?: (bytes: Uint8Array) => void
  readonly onStderr?: (bytes: Uint8Array) => void
  readonly signal?: AbortSignal
  /** Called once the command runs, before anything that it writes; never for one that can't be started. */
  readonly onStart?: () => void
}

/** How a command ended; a shell's own numbers for a command that could not be started or was killed. */
export interface CommandResult {
  readonly exitCode: number
  /** Why it could not be started, in a few words; absent when it was. */
  readonly notStarted?: string
}

/** What a shell says of a command that could not be started. */
const NOT_STARTED: Readonly<Record<string, CommandResult>> = {
  ENOENT: { exitCode: 127, notStarted: 'no such command; check the spelling, and the PATH' },
  EACCES: { exitCode: 126, notStarted: "it can't be executed; name a program, or make the file executable" },
}
const KILLED = 128

/**
 * What points SDKs at a recording proxy. `to` tells whether the path `/v1` is already said.
 */
export function proxyEnvironment(proxyUrl: string, to: URL): Readonly<Record<string, string>> {
  const openai = to.pathname === '/' ? `${proxyUrl}/v1` : proxyUrl
  return {
    OPENAI_BASE_URL: openai,
    OPENAI_API_BASE: openai,
    ANTHROPIC_BASE_URL: proxyUrl,
    GOOGLE_GEMINI_BASE_URL: proxyUrl,
    OLLAMA_HOST: proxyUrl,
    STREAMFOLD_RECORD_URL: proxyUrl,
  }
}

/**
 * Runs a command with our standard input; resolves when it has ended and all it wrote was handed over. Rejects with the error of the
 * system where a command that is there can't be started.
 */
export function runCommand(command: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const [program = '', ...args] = command
  const { onStdout, onStderr, onStart, env, signal } = options
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['inherit', onStdout === undefined ? 'inherit' : 'pipe', onStderr === undefined ? 'inherit' : 'pipe'],
      ...(env !== undefined && { env: { ...env } }),
      ...(signal !== undefined && { signal }),
    })
    forward(child.stdout, onStdout)
    forward(child.stderr, onStderr)
    if (onStart !== undefined) child.once('spawn', onStart)
    child.on('error', (error: NodeJS.ErrnoException) => {
      const notStarted = NOT_STARTED[error.code ?? '']
      if (error.name === 'AbortError') resolve({ exitCode: KILLED + 2 })
      else if (notStarted === undefined) reject(error)
      else resolve(notStarted)
    })
    child.on('close', (code) => resolve({ exitCode: code ?? KILLED }))
  })
}

function forward(stream: Readable | null, to: ((bytes: Uint8Array) => void) | undefined): void {
  if (to !== undefined) stream?.on('data', to)
}

export interface TapOptions extends Omit<ExchangeRecorderOptions, 'policy' | 'level' | 'decodedReads'> {
  readonly redaction?: RedactionOptions
}

/** What curl's exit codes say about the end of the body. */
const CURL_ENDS: Readonly<Record<number, EndKind>> = { 0: 'complete', 18: 'cut', 28: 'timeout', 56: 'reset' }

/**
 * Runs a command that writes a response to its standard output, `curl -sN` for example, and records what it writes while it
 * is passed on. With the head in front (`curl -i`) the head is recorded as one. Reads are those of the pipe. Resolves once the
 * recording is on disk; a command that can't be started leaves none.
 */
export async function recordOutput(
  command: readonly string[],
  options: TapOptions,
  run: CommandOptions = {},
): Promise<CommandResult> {
  const url = command.find((argument) => /^https?:\/\//i.test(argument))
  const policy = new RedactionPolicy(options.redaction)
  let recorder = undefined as ExchangeRecorder | undefined
  let onDisk!: (exchange: RecordedExchange) => void
  const recorded = new Promise<RecordedExchange>((resolve) => (onDisk = resolve))
  let head: Buffer | undefined = Buffer.alloc(0)
  const result = await runCommand(command, {
    ...run,
    onStart: () => {
      recorder = new ExchangeRecorder(
        { method: methodOf(command), url: url ?? '', headers: [] },
        {
          ...options,
          policy,
          level: 'imported',
          labels: { ...options.labels, source: 'stdout' },
          decodedReads: true,
          onRecorded: onDisk,
        },
      )
      recorder.requestEnd()
      run.onStart?.()
    },
    onStdout: (bytes) => {
      run.onStdout?.(bytes)
      if (recorder === undefined) return
      if (head === undefined) recorder.read(bytes)
      else {
        head = Buffer.concat([head, bytes])
        const split = splitHeads(head)
        if (split === undefined) return
        for (const one of split.heads) {
          if (one.status < 200) recorder.informational(one)
        }
        const last = split.heads.at(-1)
        if (last !== undefined) recorder.response(last)
        if (split.body.length > 0) recorder.read(split.body)
        head = undefined
      }
    },
  })
  if (recorder === undefined) return result
  // A head that never ended is what there is.
  if (head !== undefined && head.length > 0) recorder.read(head)
  const { exitCode } = result
  recorder.end(CURL_ENDS[exitCode] ?? 'error', exitCode === 0 ? {} : { code: `exit_${exitCode}` })
  const exchange = await recorded
  options.onRecorded?.(exchange)
  return result
}

/** curl's own rules: data makes it a POST. */
function methodOf(command: readonly string[]): string {
  const at = command.findIndex((argument) => argument === '-X' || argument === '--request')
  const named = at < 0 ? undefined : command[at + 1]
  return (
    named ??
    (command.some((argument) => /^(?:-d|--data(?:-[a-z]+)?|--json|-F|--form)\b/.test(argument)) ? 'POST' : 'GET')
  )
}
