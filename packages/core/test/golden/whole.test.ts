import { describe, expect, test } from 'vitest'
import { checkIntent } from './check-intent.ts'
import { checkInvariants } from './check-invariants.ts'
import { expectedText, resultOf } from './expected.ts'
import { play } from './play.ts'
import { readSamples } from './sample.ts'

describe('golden samples: whole', () => {
  test.each(readSamples())('$name', async (sample) => {
    const played = play(sample)
    checkIntent(sample.intent, played.report, played.snapshot)
    checkInvariants(played, sample.intent.options?.batch ?? 'all')
    await expect(expectedText(sample, resultOf(sample, played))).toMatchFileSnapshot(sample.expectedFile)
  })
})
