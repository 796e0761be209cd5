import { access, constants, mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { libsql, nodeSqlite, openLedger, openStore, StoreError } from '@streamfold/tools'
import type { Command } from 'commander'
import { clip } from 'streamfold/json'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { isHttpUrl } from '../http-url.ts'
import { DEFAULT_LEDGER, isLedgerFile } from '../ledger-address.ts'
import { themeOf } from '../report-text/theme.ts'

export interface DoctorCommandOptions {
  /** An endpoint that has to answer. */
  readonly baseUrl?: string
  /** A ledger that has to open: a file, or a `postgres://` address. */
  readonly ledger?: string
  readonly json?: boolean
}

interface Checked {
  readonly name: string
  /** `warn`: it works, with something that may surprise. */
  readonly state: 'ok' | 'warn' | 'fail'
  readonly detail: string
  /** What to do about it. */
  readonly hint?: string
}

type Check = (io: CommandIo) => Checked | Promise<Checked>

const SCHEMA = 'streamfold/doctor@1'
const LEAST_NODE = [20, 19] as const
const ENDPOINT_TIMEOUT_MS = 10_000

/** `streamfold doctor`: whether this machine has what the commands need. Exit 1 when something is missing, 4 for the endpoint. */
export async function doctorCommand(options: DoctorCommandOptions, io: CommandIo): Promise<ExitCode> {
  const { baseUrl, ledger, json } = options
  if (baseUrl !== undefined && !isHttpUrl(baseUrl)) {
    await io.stderr.write(`streamfold: --base-url: "${clip(baseUrl, 100)}" is no http(s) URL\n`)
    return EXIT.usage
  }
  const checks: Check[] = [checkNode, checkSqlite, checkFolder, checkTemporary, checkLoopback, checkTerminal]
  if (ledger !== undefined) checks.push(() => checkLedger(ledger))
  if (baseUrl !== undefined) checks.push(() => checkEndpoint(baseUrl, io.signal))
  const found: Checked[] = []
  for (const check of checks) {
    if (io.signal.aborted) return EXIT.interrupted
    found.push(await check(io))
  }
  await io.stdout.write(
    json === true ? `${JSON.stringify({ schema: SCHEMA, checks: found }, null, 2)}\n` : textOf(found, io),
  )
  const failed = found.filter(({ state }) => state === 'fail')
  if (failed.length === 0) return EXIT.wanted
  return failed.every(({ name }) => name === 'endpoint') ? EXIT.endpoint : EXIT.unwanted
}

function textOf(found: readonly Checked[], io: CommandIo): string {
  const theme = themeOf(io.stdout, io.env)
  const marks = { ok: theme.marks.pass, warn: theme.caution, fail: theme.marks.fail }
  const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const
  const width = Math.max(...found.map(({ name }) => name.length)) + 2
  const markWidth = Math.max(...Object.values(marks).map(({ length }) => length)) + 2
  const lines = found.flatMap(({ name, state, detail, hint }) => [
    `${theme.paint(colours[state], marks[state].padEnd(markWidth))}${name.padEnd(width)}${clip(detail, 300)}`,
    ...(hint === undefined ? [] : [`${' '.repeat(markWidth + width)}${clip(hint, 300)}`]),
  ])
  return `${lines.join('\n')}\n`
}

function checkNode(): Checked {
  const version = process.versions.node
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const enough = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])
  const detail = `${version} on ${process.platform} ${process.arch}`
  if (enough) return { name: 'node', state: 'ok', detail }
  return { name: 'node', state: 'fail', detail, hint: `install Node ${LEAST_NODE.join('.')} or newer` }
}

/** Makes a ledger, and reads it back. */
async function checkSqlite(): Promise<Checked> {
  const name = 'sqlite'
  let folder: string | undefined
  try {
    const engine = nodeSqlite() ?? (await libsql())
    folder = await mkdtemp(join(tmpdir(), 'streamfold-doctor-'))
    const store = await openStore(join(folder, 'ledger.db'), { engine })
    try {
      const ledger = await openLedger(store)
      await ledger.startRun('doctor', 'run', '{}')
      if ((await ledger.readRun('doctor', 'run'))?.input !== '{}') throw new Error('what was written did not come back')
    } finally {
      await store.close()
    }
    return { name, state: 'ok', detail: `${engine.name}, a ledger was written and read` }
  } catch (error) {
    const hint =
      'install the dependencies again on this machine, or keep the ledger in PostgreSQL (--ledger postgres://…)'
    return { name, state: 'fail', detail: messageOf(error), hint }
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
}

async function checkFolder(): Promise<Checked> {
  const name = 'ledger folder'
  const folder = resolve(dirname(DEFAULT_LEDGER))
  // It is made when it is needed; until then the folder around it has to let that happen.
  const present = await isFolder(folder)
  const asked = present ? folder : dirname(folder)
  if (await isWritable(asked)) return { name, state: 'ok', detail: `${folder}${present ? '' : ', will be made'}` }
  return { name, state: 'warn', detail: `${asked} can't be written`, hint: 'name a file elsewhere with --ledger' }
}

async function checkTemporary(): Promise<Checked> {
  const name = 'temporary folder'
  if (await isWritable(tmpdir())) return { name, state: 'ok', detail: tmpdir() }
  return { name, state: 'fail', detail: `${tmpdir()} can't be written`, hint: 'set TMPDIR to a folder that can' }
}

/** Replays, recordings and the chat without an endpoint are served on this machine. */
async function checkLoopback(): Promise<Checked> {
  const name = 'loopback'
  const server = createServer((_request, response) => void response.end('here'))
  try {
    await new Promise<void>((done, reject) => void server.once('error', reject).listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(ENDPOINT_TIMEOUT_MS) })
    if ((await answer.text()) !== 'here') throw new Error('something else answers on 127.0.0.1')
    return { name, state: 'ok', detail: '127.0.0.1 can be listened on and reached' }
  } catch (error) {
    const hint = 'a firewall or a proxy stands between this machine and itself; replay, record and chat need it'
    return { name, state: 'fail', detail: messageOf(error), hint }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

function checkTerminal({ stdout, env }: CommandIo): Checked {
  const name = 'terminal'
  if (!stdout.isTTY) return { name, state: 'ok', detail: 'output goes to a file or pipe: plain text, no colours' }
  const theme = themeOf(stdout, env)
  const unicode = theme.marks.pass !== 'ok'
  const colours = theme.paint('green', '') !== ''
  const detail = `${stdout.stream.columns ?? '?'} columns, ${colours ? 'colours' : 'no colours'}, ${unicode ? 'Unicode' : 'ASCII'}`
  if (unicode) return { name, state: 'ok', detail }
  return { name, state: 'warn', detail, hint: 'for Unicode and colours set LANG to a UTF-8 locale, and unset NO_COLOR' }
}

async function checkLedger(address: string): Promise<Checked> {
  const name = 'ledger'
  const isFile = isLedgerFile(address)
  if (isFile && (await stat(address).catch(() => undefined)) === undefined) {
    const folder = dirname(resolve(address))
    if (await isWritable(folder)) return { name, state: 'ok', detail: `${address} is not there yet, and can be made` }
    return { name, state: 'fail', detail: `${folder} can't be written`, hint: 'name a file elsewhere' }
  }
  const where = isFile ? address : 'the database'
  try {
    // Looking only: another process may be using it.
    const store = await openStore(address, { readOnly: true })
    try {
      await (await openLedger(store)).list('doctor', { limit: 1 })
    } finally {
      await store.close()
    }
    return { name, state: 'ok', detail: `${where} holds a ledger` }
  } catch (error) {
    // The database understood everything but the name of the table.
    if (error instanceof StoreError && error.code === 'statement') {
      return { name, state: 'ok', detail: `${where} holds no ledger yet, or an older one` }
    }
    return { name, state: 'fail', detail: messageOf(error) }
  }
}

/** Any answer will do: without a key and a request, a refusal is what one gets. */
async function checkEndpoint(baseUrl: string, signal: AbortSignal): Promise<Checked> {
  const name = 'endpoint'
  const where = baseUrl.replace(/\/\/[^/@]*@/, '//').replace(/[?#].*$/s, '')
  const started = performance.now()
  try {
    const response = await fetch(baseUrl, {
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ENDPOINT_TIMEOUT_MS)]),
    })
    await response.body?.cancel()
    const ms = Math.round(performance.now() - started)
    return { name, state: 'ok', detail: `${where} answers (${response.status} after ${ms} ms)` }
  } catch (error) {
    const hint = 'check the address, that the server runs, and the proxy or firewall in between'
    return { name, state: 'fail', detail: `${where}: ${messageOf(error)}`, hint }
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}

async function isWritable(path: string): Promise<boolean> {
  return await access(path, constants.W_OK).then(
    () => true,
    () => false,
  )
}

/** `fetch` says why in the cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return `${error.message} (${'code' in cause ? String(cause.code) : cause.message})`
}

/** Puts the command into a program. */
export function addDoctorCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  program
    .command('doctor')
    .description('checks what the commands need: Node, SQLite, folders, this machine, the terminal')
    .option('--base-url <url>', 'and that this endpoint answers')
    .option('--ledger <address>', 'and that this ledger can be opened: a file or a postgres:// address')
    .option('--json', 'as a JSON document')
    .addHelpText(
      'after',
      '\nExit codes: 0 all is well, 1 something is missing, 2 usage, 4 only the endpoint does not answer.',
    )
    .action(async (flags: DoctorCommandOptions) => done(await doctorCommand(flags, io)))
}
