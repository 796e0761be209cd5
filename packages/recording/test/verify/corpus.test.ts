import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { failureText } from '../../src/verify/junit.ts'
import { verify } from '../../src/verify/verify.ts'

const CORPUS = fileURLToPath(new URL('../../../../corpus', import.meta.url))

// Every cut is the core's own test; here are the faults, each in a few cuts.
test('every golden sample keeps its promises under every fault', { timeout: 300_000 }, async () => {
  const document = await verify([CORPUS], { plans: 'event', faults: 'default' })
  const failed = document.samples.flatMap(({ name, failures }) => failures.map((one) => `${name}: ${failureText(one)}`))
  expect(failed).toEqual([])
  expect(document.totals.samples).toBeGreaterThan(150)
  // A fault that is applied nowhere would keep any promise.
  expect(document.totals.checks).toBeGreaterThan(20_000)
})
