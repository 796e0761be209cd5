import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleProgram } from './bundle.ts'
import { crash, defaultWorkers, POINTS } from './harness.ts'
import type { CrashOptions, CrashReport } from './harness.ts'
import { canTrace, powerLoss } from './power-loss.ts'

const USAGE = `usage: npm run crash -- [--kills N] [--store sqlite|postgres] [--workers N] [--seed N]
                        [--server-kills N] [--baseline lease-retry] [--json]
       npm run crash -- --power-loss

Kills workers that run tool calls, at named points and at random times, and compares what was done outside with the ledger.
A kill takes one to two seconds. Not every point is reached in a short run.
With --power-loss it replays the system calls of a run, and looks at what a power cut would leave of the embedded file (Linux,
strace).
Exit code: 0 nothing was done twice and nothing was lost, 1 something was, 2 usage.`

function whole(text: string, name: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0) throw new TypeError(`--${name} takes a whole number, not ${text}`)
  return value
}

function optionsOf(args: readonly string[]): (Omit<CrashOptions, 'program'> & { readonly json: boolean }) | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: 'string', default: '100' },
      store: { type: 'string', default: 'sqlite' },
      workers: { type: 'string' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      'server-kills': { type: 'string' },
      baseline: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const { store, baseline } = values
  if (store !== 'sqlite' && store !== 'postgres') throw new TypeError(`--store takes sqlite or postgres, not ${store}`)
  if (baseline !== undefined && baseline !== 'lease-retry') {
    throw new TypeError(`--baseline takes lease-retry, not ${baseline}`)
  }
  const kills = whole(values.kills, 'kills')
  const serverKills = values['server-kills']
  return {
    kills,
    store,
    workers: values.workers === undefined ? defaultWorkers() : Math.max(1, whole(values.workers, 'workers')),
    seed: whole(values.seed, 'seed'),
    serverKills: serverKills === undefined ? Math.ceil(kills / 100) : whole(serverKills, 'server-kills'),
    ...(baseline === undefined ? {} : { baseline }),
    json: values.json,
    progress: (text) => process.stderr.write(`${text}\n`),
  }
}

function line(text: string): void {
  process.stdout.write(`${text}\n`)
}

function print(options: Omit<CrashOptions, 'program'>, report: CrashReport): void {
  const named = [...report.points].filter(([point]) => point !== 'any time')
  line(
    `store ${options.store}, workers ${options.workers}, seed ${options.seed}${options.baseline ? ', lease-retry' : ''}`,
  )
  line(
    `kills            ${report.kills}, of which ${named.reduce((sum, [, count]) => sum + count, 0)} at named points: ` +
      `${named.length} of the ${POINTS.length} were reached`,
  )
  line(`stops past lease ${report.stops}`)
  line(`server kills     ${report.serverKills}`)
  line(`disk full        ${report.diskFull}`)
  line(`calls            ${report.calls} in ${report.runs} runs, ${report.executions} executions`)
  line(`doubled effects  ${report.doubled.length}`)
  line(`lost rows        ${report.lost.length}`)
  line(`unfinished runs  ${report.unfinished.length}`)
  line(
    `unknown          ${report.unknown}, of which ${report.unknownDone} had been done: ` +
      'the worker died in them, so they wait for a person, and are not run again',
  )
  line(`reads run again  ${report.readsAgain}`)
  for (const text of [...report.doubled, ...report.lost, ...report.unfinished].slice(0, 20)) line(`  ${text}`)
  line(
    isGood(report)
      ? 'ok: nothing was done twice, nothing is lost, every run came to its end'
      : `FAIL: ${report.doubled.length} done twice, ${report.lost.length} lost, ${report.unfinished.length} unfinished`,
  )
}

function isGood({ doubled, lost, unfinished }: CrashReport): boolean {
  return doubled.length === 0 && lost.length === 0 && unfinished.length === 0
}

async function cutPower(): Promise<number> {
  if (!canTrace()) {
    process.stderr.write('strace is not there, or may not watch processes here\n')
    return 2
  }
  const program = await bundleProgram('power-loss-child.ts')
  try {
    const report = await powerLoss(program, { executions: 200, cuts: 200 })
    line(`power cuts       ${report.cuts}`)
    line(`acknowledgements ${report.acknowledged}`)
    line(`lost             ${report.lost.length}`)
    for (const text of report.lost.slice(0, 20)) line(`  ${text}`)
    line(report.lost.length === 0 ? 'ok: nothing acknowledged is lost' : `FAIL: ${report.lost.length} lost`)
    return report.lost.length === 0 ? 0 : 1
  } finally {
    rmSync(dirname(program), { recursive: true, force: true })
  }
}

/** @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--power-loss')) return await cutPower()
  let options
  try {
    options = optionsOf(args)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`)
    return 2
  }
  if (options === undefined) {
    process.stdout.write(`${USAGE}\n`)
    return 0
  }
  const minutes = Math.max(1, Math.ceil(options.kills / 40))
  process.stderr.write(`${options.kills} kills, about ${minutes} min …\n`)
  const program = await bundleProgram('child.ts')
  try {
    const report = await crash({ ...options, program })
    if (options.json) {
      const { points, ...rest } = report
      process.stdout.write(`${JSON.stringify({ ...rest, points: Object.fromEntries(points) })}\n`)
    } else print(options, report)
    return isGood(report) ? 0 : 1
  } finally {
    rmSync(dirname(program), { recursive: true, force: true })
  }
}
