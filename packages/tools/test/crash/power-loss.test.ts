import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bundleProgram } from '../../crash/bundle.ts'
import { canTrace, powerLoss } from '../../crash/power-loss.ts'

// Needs Linux, strace, and the right to watch a process.
test.skipIf(!canTrace())('whenever the power fails, what was acknowledged is there', { timeout: 600_000 }, async () => {
  const program = await bundleProgram('power-loss-child.ts')
  onTestFinished(() => rmSync(dirname(program), { recursive: true, force: true }))
  const options = { executions: 6, cuts: 8 }
  const report = await powerLoss(program, options)
  expect(report.lost).toEqual([])
  expect(report.acknowledged).toBe(12)
  // The check itself: with a disk that only pretends to sync, it sees the losses.
  const lying = await powerLoss(program, { ...options, forgetSyncs: true })
  expect(lying.lost.length).toBeGreaterThan(0)
})
