import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { CRASH_POINTS } from '../src/crash-point.ts'
import type { ToolResult } from '../src/executor/tool-result.ts'
import { openOutside } from './outside.ts'
import { plannedRun } from './plan.ts'
import type { PlannedRun } from './plan.ts'
import { startPostgres } from './postgres-server.ts'
import type { PostgresServer } from './postgres-server.ts'
import type { Orders, Said } from './protocol.ts'
import { randomFrom } from './random.ts'
import { nameOf, verify } from './verify.ts'
import type { Findings } from './verify.ts'
import { runWorker } from './worker-process.ts'
import type { Blow } from './worker-process.ts'

export interface CrashOptions {
  readonly kills: number
  readonly store: 'sqlite' | 'postgres'
  /** Processes on PostgreSQL; executors in the one process on SQLite. */
  readonly workers: number
  readonly seed: number
  /** `lease-retry`: what happens to work that is simply run again when its lease ends. */
  readonly baseline?: 'lease-retry'
  /** The worker program, bundled. */
  readonly program: string
  /** Kill at these points only. Default: all of them, and random times, stops and full disks too. */
  readonly points?: readonly string[]
  /** Kills of the PostgreSQL server itself, spread over the run. */
  readonly serverKills?: number
  readonly progress?: (line: string) => void
}

export interface CrashReport extends Findings {
  readonly kills: number
  /** Kills at each named point. */
  readonly points: ReadonlyMap<string, number>
  readonly stops: number
  readonly serverKills: number
  readonly diskFull: number
  readonly runs: number
  readonly calls: number
  /** Runs that did not come to an end; there should be none. */
  readonly unfinished: readonly string[]
}

const TOOL_POINTS = ['tool.before-effect', 'tool.after-effect']
/** Where a worker may be killed by name. */
export const POINTS: readonly string[] = [...CRASH_POINTS, ...TOOL_POINTS]
const LEASE_MS = 600
const RUNS_AT_ONCE = 6
const LAST_ROUNDS = 40

/** Kills workers until it has killed enough, lets the last ones finish, and looks at what is left. */
export async function crash(options: CrashOptions): Promise<CrashReport> {
  const directory = mkdtempSync(join(tmpdir(), 'streamfold-crash-'))
  const outside = await openOutside(join(directory, 'deeds.jsonl'), options.baseline === undefined)
  let server: PostgresServer | undefined
  try {
    if (options.store === 'postgres') server = await startPostgres()
    const address = server === undefined ? join(directory, 'ledger.db') : await server.createDatabase()
    return await new Campaign(options, address, outside.address, server).run(() => outside.counts())
  } finally {
    await outside.close()
    await server?.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

class Campaign {
  readonly #options: CrashOptions
  readonly #address: string
  readonly #outside: string
  readonly #server: PostgresServer | undefined
  readonly #random: () => number
  readonly #runs: PlannedRun[] = []
  readonly #done = new Set<string>()
  readonly #results = new Map<string, ToolResult>()
  readonly #cancelled = new Set<string>()
  readonly #points = new Map<string, number>()
  #started = 0
  #kills = 0
  #stops = 0
  #diskFull = 0
  #serverKills = 0

  constructor(options: CrashOptions, address: string, outside: string, server: PostgresServer | undefined) {
    this.#options = options
    this.#address = address
    this.#outside = outside
    this.#server = server
    this.#random = randomFrom(options.seed)
  }

  async run(counts: () => ReadonlyMap<string, number>): Promise<CrashReport> {
    const lanes = this.#server === undefined ? 1 : this.#options.workers
    const limit = this.#options.kills * 6 + 20
    await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        while (this.#kills < this.#options.kills && this.#started < limit) await this.#deadly(lane)
      }),
    )
    for (let round = 0; round < LAST_ROUNDS && this.#open().length > 0; round += 1) await this.#harmless()
    const findings = await verify(this.#address, this.#runs, counts(), {
      results: this.#results,
      cancelled: this.#cancelled,
    })
    return {
      ...findings,
      kills: this.#kills,
      points: this.#points,
      stops: this.#stops,
      serverKills: this.#serverKills,
      diskFull: this.#diskFull,
      runs: this.#runs.length,
      calls: this.#runs.reduce((sum, { calls }) => sum + calls.length, 0),
      unfinished: this.#open().map(({ runId }) => runId),
    }
  }

  #open(): readonly PlannedRun[] {
    return this.#runs.filter(({ runId }) => !this.#done.has(runId))
  }

  /** Unfinished runs for one worker, and new ones up to the usual number. Only replays may be with two workers at once. */
  #share(lane: number, lanes: number): readonly PlannedRun[] {
    const mine = (run: PlannedRun, at: number): boolean => run.kind === 'replay' || at % lanes === lane
    const share = this.#runs.filter((run, at) => !this.#done.has(run.runId) && mine(run, at))
    while (share.length < RUNS_AT_ONCE) {
      const at = this.#runs.length
      const run = plannedRun(at, LEASE_MS / 4)
      this.#runs.push(run)
      if (mine(run, at)) share.push(run)
    }
    return share.slice(0, RUNS_AT_ONCE)
  }

  #orders(runs: readonly PlannedRun[]): Orders {
    this.#started += 1
    return {
      store: this.#address,
      outside: this.#outside,
      runs,
      executors: this.#server === undefined ? this.#options.workers : 1,
      leaseMs: LEASE_MS,
      leaseRetry: this.#options.baseline !== undefined,
      seed: this.#started,
    }
  }

  async #deadly(lane: number): Promise<void> {
    const lanes = this.#server === undefined ? 1 : this.#options.workers
    const orders = this.#orders(this.#share(lane, lanes))
    const turn = this.#started
    const points = this.#options.points ?? POINTS
    const draw = this.#options.points === undefined ? this.#random() : 0
    let blow: Blow | undefined
    let fate: Partial<Orders> = {}
    if (draw < 0.62) {
      // All points in turn, the seldom ones as often as the others.
      const point = points[turn % points.length]!
      fate = { die: { point, nth: 1 + Math.floor(this.#random() * (point.startsWith('migrate') ? 20 : 3)) } }
      // Points that are not passed this time must not make the run long.
      blow = { kind: 'kill', since: 'ready', afterMs: 1500 + this.#random() * 1500 }
    } else if (draw < 0.9) {
      const since = this.#random() < 0.15 ? 'start' : 'ready'
      blow = { kind: 'kill', since, afterMs: this.#random() * 600 }
    } else if (draw < 0.96 || this.#server !== undefined) {
      blow = { kind: 'stop', since: 'ready', afterMs: this.#random() * 400, forMs: LEASE_MS * 1.5 }
      this.#stops += 1
    } else {
      fate = { roomPages: Math.floor(this.#random() * 12) }
      // What a tool has done is kept until there is room to write it down, and here there never is.
      blow = { kind: 'kill', since: 'ready', afterMs: 4000 }
    }
    const end = await runWorker(this.#options.program, { ...orders, ...fate }, blow, (said) => this.#hear(said))
    if (end.killed) {
      this.#kills += 1
      const point = end.point ?? 'any time'
      this.#points.set(point, (this.#points.get(point) ?? 0) + 1)
      if (this.#kills % 50 === 0) this.#options.progress?.(`${this.#kills} kills`)
      await this.#killServer()
    } else if (end.code !== 0 && end.code !== 3) {
      throw new Error(`a worker failed by itself (${end.code}):\n${end.complaints}`)
    }
  }

  async #killServer(): Promise<void> {
    const wanted = this.#options.serverKills ?? 0
    if (this.#server === undefined || this.#serverKills >= wanted) return
    if (this.#kills < ((this.#serverKills + 1) * this.#options.kills) / (wanted + 1)) return
    this.#serverKills += 1
    await this.#server.crash()
  }

  async #harmless(): Promise<void> {
    const runs = this.#open().slice(0, RUNS_AT_ONCE * 4)
    const end = await runWorker(this.#options.program, this.#orders(runs), undefined, (said) => this.#hear(said))
    if (end.code !== 0) throw new Error(`the last worker failed (${end.code}):\n${end.complaints}`)
  }

  #hear(said: Said): void {
    if (said.said === 'full') this.#diskFull += 1
    if (said.said === 'cancelled') {
      for (const callId of said.callIds) this.#cancelled.add(nameOf(said.runId, callId))
    }
    if (said.said !== 'results') return
    for (const result of said.results) this.#results.set(nameOf(said.runId, result.callId), result)
    if (said.done) this.#done.add(said.runId)
  }
}

/** How many workers this machine can bear. */
export const defaultWorkers = (): number => Math.max(1, Math.min(4, availableParallelism()))
