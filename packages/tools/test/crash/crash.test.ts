import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleProgram } from '../../crash/bundle.ts'
import { crash } from '../../crash/harness.ts'

/** For a machine that is busy with other things. */
const PATIENCE_MS = 600_000

let program = ''

beforeAll(async () => {
  program = await bundleProgram('child.ts')
})

afterAll(() => {
  rmSync(dirname(program), { recursive: true, force: true })
})

// Short runs; `npm run crash` does long ones. The seed is in the title, so a failure can be run again.
test.each([
  { store: 'sqlite', workers: 2, kills: 15, seed: 1, serverKills: 0 },
  { store: 'postgres', workers: 2, kills: 10, seed: 2, serverKills: 1 },
] as const)(
  '$kills kills on $store, seed $seed: nothing is done twice, nothing is lost',
  async (options) => {
    const report = await crash({ ...options, program })
    expect(report).toMatchObject({ doubled: [], lost: [], unfinished: [], serverKills: options.serverKills })
    expect(report.kills).toBeGreaterThanOrEqual(options.kills)
  },
  PATIENCE_MS,
)

test(
  'killed right after every deed: nothing is done twice; with leases alone, it is',
  async () => {
    const options = { store: 'sqlite', workers: 1, kills: 6, seed: 3, points: ['tool.after-effect'], program } as const
    const ours = await crash(options)
    expect(ours).toMatchObject({ doubled: [], lost: [], unfinished: [] })
    const leases = await crash({ ...options, baseline: 'lease-retry' })
    expect(leases.doubled.length).toBeGreaterThan(0)
  },
  PATIENCE_MS,
)
