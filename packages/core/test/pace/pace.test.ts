import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pace } from '../../src/pace/index.ts'
import type { PaceOptions } from '../../src/pace/index.ts'
import { fakeClock, settled, textFeed } from './fake-clock.ts'
import type { FakeClock, TextFeed } from './fake-clock.ts'

interface Shown {
  readonly clock: FakeClock
  readonly feed: TextFeed
  /** Pieces with the time at which each came. */
  readonly pieces: { atMs: number; text: string }[]
  readonly done: Promise<unknown>
}

function show(options: PaceOptions = {}): Shown {
  const clock = fakeClock()
  const feed = textFeed()
  const pieces: { atMs: number; text: string }[] = []
  const reading = async (): Promise<unknown> => {
    try {
      for await (const text of pace(feed, { clock, charsPerSecond: 100, frameMs: 10, ...options })) {
        pieces.push({ atMs: clock.now(), text })
      }
    } catch (error) {
      return error
    }
    return undefined
  }
  return { clock, feed, pieces, done: reading() }
}

const textOf = (pieces: Shown['pieces']): string => pieces.map(({ text }) => text).join('')

describe('the rhythm', () => {
  test('a burst is shown evenly: one character every 10 ms at 100 per second', async () => {
    const { clock, feed, pieces } = show()
    feed.write('abcdef')
    await clock.pass(50)
    // The last character is held: it could still get an accent.
    expect(pieces).toEqual([
      { atMs: 10, text: 'a' },
      { atMs: 20, text: 'b' },
      { atMs: 30, text: 'c' },
      { atMs: 40, text: 'd' },
      { atMs: 50, text: 'e' },
    ])
  })

  test('time in which there was nothing to show is not made up for', async () => {
    const { clock, feed, pieces } = show()
    await clock.pass(5000)
    feed.write('abc')
    await clock.pass(10)
    expect(pieces).toEqual([{ atMs: 5010, text: 'a' }])
  })

  test('it quickens when it is behind: what waits is shown within the lag', async () => {
    const { clock, feed, pieces } = show({ maxLagMs: 100 })
    feed.write('x'.repeat(1001))
    await clock.pass(10)
    // 1000 characters and 100 ms: 10 per ms.
    expect(textOf(pieces)).toHaveLength(100)
    await clock.pass(10)
    expect(textOf(pieces)).toHaveLength(190)
    await clock.pass(2000)
    expect(textOf(pieces)).toHaveLength(1000)
  })

  test('slower than a frame, it waits for a whole character', async () => {
    const { clock, feed, pieces } = show({ charsPerSecond: 10 })
    feed.write('abc')
    await clock.pass(99)
    expect(pieces).toEqual([])
    await clock.pass(101)
    expect(textOf(pieces)).toBe('ab')
  })

  test('a slow reader gets what was due in the meantime at once', async () => {
    const clock = fakeClock()
    const feed = textFeed()
    const pieces = pace(feed, { clock, charsPerSecond: 100, frameMs: 10 })
    feed.write('abcdefghijk')
    const first = pieces.next()
    await clock.pass(10)
    expect(await first).toEqual({ done: false, value: 'a' })
    await clock.pass(60)
    expect(await pieces.next()).toEqual({ done: false, value: 'bcdefg' })
  })

  test.each<PaceOptions>([{ charsPerSecond: Infinity }, { maxLagMs: Number.MIN_VALUE }])(
    'without bounds (%o), what has come is shown at once',
    async (options) => {
      const { clock, feed, pieces, done } = show(options)
      feed.write('abc')
      await settled()
      expect(pieces).toEqual([{ atMs: 0, text: 'ab' }])
      feed.write('de')
      feed.end()
      await clock.pass(10)
      await done
      expect(textOf(pieces)).toBe('abcde')
    },
  )

  test.each(['charsPerSecond', 'maxLagMs', 'frameMs'])('%s must be more than 0', (name) => {
    expect(() => pace(textFeed(), { [name]: 0 })).toThrow(name)
    expect(() => pace(textFeed(), { [name]: NaN })).toThrow(name)
  })
})

describe('the end', () => {
  test('flushes what is left at once', async () => {
    const { clock, feed, pieces, done } = show()
    feed.write('abcdef')
    await clock.pass(20)
    feed.end()
    await done
    expect(pieces.at(-1)).toEqual({ atMs: 20, text: 'cdef' })
    expect(clock.timers).toBe(0)
  })

  test('of a source that says nothing is the end', async () => {
    const { feed, pieces, done } = show()
    feed.write('')
    feed.end()
    expect(await done).toBeUndefined()
    expect(pieces).toEqual([])
  })

  test('by a failure: the text before it, then the failure', async () => {
    const { feed, pieces, done, clock } = show()
    feed.write('abc')
    feed.fail(new Error('cut'))
    expect(await done).toEqual(new Error('cut'))
    expect(textOf(pieces)).toBe('abc')
    expect(clock.timers).toBe(0)
  })
})

describe('cancelling', () => {
  test('by the signal: nothing more is shown, and the source is given up', async () => {
    const abort = new AbortController()
    const { clock, feed, pieces, done } = show({ signal: abort.signal })
    feed.write('abcdef')
    await clock.pass(20)
    abort.abort(new Error('enough'))
    expect(await done).toEqual(new Error('enough'))
    expect(textOf(pieces)).toBe('ab')
    expect(feed.givenUp).toBe(true)
    expect(clock.timers).toBe(0)
  })

  test('before it began', async () => {
    const { feed, pieces, done } = show({ signal: AbortSignal.abort(new Error('no')) })
    feed.write('abc')
    expect(await done).toEqual(new Error('no'))
    expect(pieces).toEqual([])
  })

  test('by leaving the loop', async () => {
    const clock = fakeClock()
    const feed = textFeed()
    feed.write('abcdef')
    const reading = (async () => {
      for await (const _ of pace(feed, { clock })) break
    })()
    await clock.pass(100)
    await reading
    expect(feed.givenUp).toBe(true)
    expect(clock.timers).toBe(0)
  })

  test('while a piece is waited for: it is the end', async () => {
    const feed = textFeed()
    const pieces = pace(feed, { clock: fakeClock() })
    const waiting = pieces.next()
    await pieces.return?.()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(await pieces.next()).toEqual({ done: true, value: undefined })
  })
})

test('reading ahead is bounded', async () => {
  const { clock, feed, pieces } = show()
  for (let i = 0; i < 40; i++) feed.write('x'.repeat(1000))
  await settled()
  const before = feed.pulls
  expect(before).toBe(17)
  await clock.pass(10_000)
  expect(feed.pulls).toBe(41)
  expect(textOf(pieces)).toHaveLength(39_999)
})

describe('characters as readers see them', () => {
  const CHARACTERS = ['👩‍👩‍👧‍👦', '🇩🇪', '👍🏽', 'é', 'ก็', '\r\n', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '1️⃣', '𝒳', 'a']

  test.each(CHARACTERS)('%j is never split, whatever pieces it came in', async (character) => {
    const { clock, feed, pieces, done } = show()
    for (const unit of `${character}${character}!`.split('')) feed.write(unit)
    await clock.pass(20)
    feed.end()
    await done
    expect(pieces.map(({ text }) => text)).toEqual([character, character, '!'])
  })

  test('no text is lost, added or reordered (seed 20261130)', async () => {
    const texts = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...CHARACTERS)), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(40), { maxLength: 30 }), async (source, waits) => {
        const { clock, feed, pieces, done } = show()
        for (const [i, text] of source.entries()) {
          feed.write(text)
          await clock.pass(waits[i] ?? 0)
        }
        feed.end()
        await done
        expect(textOf(pieces)).toBe(source.join(''))
      }),
      { seed: 20_261_130, numRuns: 100 },
    )
  })
})
