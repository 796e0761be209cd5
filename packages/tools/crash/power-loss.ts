import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openLedger } from '../src/ledger/index.ts'
import { openStore } from '../src/store/index.ts'
import { TENANT } from './protocol.ts'

export interface PowerLossReport {
  readonly cuts: number
  readonly acknowledged: number
  /** Acknowledged before the cut, and not there after it. */
  readonly lost: readonly string[]
}

/** One thing the process did: to a file, or an acknowledgement that it gave. */
type Step =
  | { readonly kind: 'write'; readonly file: string; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: string; readonly size: number }
  | { readonly kind: 'sync'; readonly file: string }
  | { readonly kind: 'remove'; readonly file: string }
  | { readonly kind: 'said'; readonly text: string }

/** Whether this machine can watch system calls. */
export function canTrace(): boolean {
  return process.platform === 'linux' && spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0
}

/**
 * What a power cut would leave, in the worst case: of every file only what was synced, byte by byte as the system calls of a
 * real run say. Cut after every acknowledgement, and at `cuts` other places.
 * @param program power-loss-child, bundled
 * @param forgetSyncs treats a sync of the log as if the disk had lied; the check must see that
 */
export async function powerLoss(
  program: string,
  options: { readonly executions: number; readonly cuts: number; readonly forgetSyncs?: boolean },
): Promise<PowerLossReport> {
  const directory = mkdtempSync(join(tmpdir(), 'streamfold-power-'))
  try {
    const steps = traced(program, directory, options.executions)
    const said = steps.flatMap((step, at) => (step.kind === 'said' ? [at + 1] : []))
    const spread = Array.from({ length: options.cuts }, (_, at) => Math.floor((steps.length * (at + 1)) / options.cuts))
    const places = [...new Set([...said, ...spread])].sort((left, right) => left - right)
    const lost: string[] = []
    const disk = new Disk(options.forgetSyncs === true)
    const promised = new Map<number, string>()
    let done = 0
    for (const place of places) {
      for (; done < place; done += 1) {
        const step = steps[done]!
        if (step.kind === 'said') promise(promised, step.text)
        else disk.apply(step)
      }
      const after = join(directory, `after-${place}`)
      mkdirSync(after)
      for (const [file, bytes] of disk.survivors) writeFileSync(join(after, basename(file)), bytes)
      lost.push(...(await missing(join(after, 'ledger.db'), promised)).map((what) => `${what}, cut ${place}`))
      rmSync(after, { recursive: true })
    }
    return { cuts: places.length, acknowledged: said.length, lost }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function traced(program: string, directory: string, executions: number): readonly Step[] {
  const log = join(directory, 'trace')
  const watch = [
    '-f',
    '-y',
    '-xx',
    '-s',
    '1000000',
    '-e',
    'trace=pwrite64,write,fsync,fdatasync,ftruncate,unlink',
    '-o',
    log,
  ]
  const place = join(directory, 'ledger.db')
  const { status, stderr } = spawnSync('strace', [...watch, process.execPath, program, place, String(executions)])
  if (status !== 0) throw new Error(`the traced run failed:\n${stderr.toString()}`)
  return readFileSync(log, 'latin1')
    .split('\n')
    .flatMap((line) => stepOf(line, place))
}

const unescape = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex')

/** The side file holds the lock, the index of the log is rebuilt: only these two matter after a cut. */
function stepOf(line: string, place: string): readonly Step[] {
  const removed = /unlink\("([^"]*)"/.exec(line)
  if (removed !== null) {
    const file = unescape(removed[1] ?? '').toString()
    return file.startsWith(place) ? [{ kind: 'remove', file }] : []
  }
  const match =
    /(pwrite64|write|fsync|fdatasync|ftruncate)\((\d+)<([^>]*)>(?:, (?:"([^"]*)"|(\d+)))?(?:, \d+(?:, (\d+))?)?/.exec(
      line,
    )
  if (match === null) return []
  const [, call, descriptor, path = '', data = '', size = '0', at = '0'] = match
  const file = unescape(path).toString()
  if (call === 'write' && descriptor === '1') return [{ kind: 'said', text: unescape(data).toString() }]
  if (file !== place && file !== `${place}-wal`) return []
  switch (call) {
    case 'pwrite64':
      return [{ kind: 'write', file, at: Number(at), bytes: unescape(data) }]
    case 'ftruncate':
      return [{ kind: 'truncate', file, size: Number(size) }]
    case 'fsync':
    case 'fdatasync':
      return [{ kind: 'sync', file }]
    case undefined:
    default:
      throw new Error(`unexpected ${call} of ${file}`)
  }
}

/** Files as processes see them, and as they would be found after a power cut. */
class Disk {
  readonly survivors = new Map<string, Buffer>()
  readonly #inMemory = new Map<string, Buffer>()
  readonly #forgetSyncs: boolean

  constructor(forgetSyncs: boolean) {
    this.#forgetSyncs = forgetSyncs
  }

  apply(step: Exclude<Step, { kind: 'said' }>): void {
    const { file } = step
    const now = this.#inMemory.get(file) ?? Buffer.alloc(0)
    switch (step.kind) {
      case 'write': {
        const end = step.at + step.bytes.length
        const next = end > now.length ? resized(now, end) : now
        step.bytes.copy(next, step.at)
        this.#inMemory.set(file, next)
        break
      }
      case 'truncate':
        this.#inMemory.set(file, resized(now, step.size))
        break
      case 'sync':
        if (!(this.#forgetSyncs && file.endsWith('-wal'))) this.survivors.set(file, Buffer.from(now))
        break
      case 'remove':
        this.#inMemory.delete(file)
        this.survivors.delete(file)
        break
    }
  }
}

function resized(bytes: Buffer, size: number): Buffer {
  const next = Buffer.alloc(size)
  bytes.copy(next)
  return next
}

/** The last thing said of a turn counts. */
function promise(promised: Map<number, string>, said: string): void {
  const [word = '', turn = '0'] = said.trim().split(' ')
  promised.set(Number(turn), word)
}

async function missing(path: string, promised: ReadonlyMap<number, string>): Promise<readonly string[]> {
  const store = await openStore(path)
  try {
    const [check] = await store.query<{ integrity_check: string }>('pragma integrity_check')
    if (check?.integrity_check !== 'ok') return [`the file is broken: ${check?.integrity_check}`]
    const ledger = await openLedger(store)
    const states = new Map((await ledger.list(TENANT, { limit: 100_000 })).map(({ turn, state }) => [turn, state]))
    return [...promised].flatMap(([turn, word]) => {
      const state = states.get(turn)
      const kept = word === 'done' ? state === 'succeeded' : state === 'executing' || state === 'succeeded'
      return kept ? [] : [`turn ${turn} was ${word} and is ${state ?? 'not there'}`]
    })
  } finally {
    await store.close()
  }
}
