import { describe, expect, test } from 'vitest'
import { EFFECTS } from '../../src/define/tool.ts'
import type { Effect } from '../../src/define/tool.ts'
import { ALL_RULES, next, start } from './protocol-model.ts'
import type { Rules, World } from './protocol-model.ts'

/** What must never be so, whatever happens in whatever order. */
function wrongIn(world: World, effect: Effect): string | undefined {
  if (effect !== 'read' && world.effects > 1) return `the effect happened ${world.effects} times`
  if (world.effects > 0 && world.state === 'ready') return 'the effect happened, and no row says that it may have'
  if (world.acknowledged !== null && world.acknowledged !== world.state) return 'an acknowledged outcome changed'
  if (effect !== 'read' && world.state === 'failed' && world.recorded === 'not done' && world.effects > 0) {
    return 'it is recorded as not done, and was'
  }
  if (world.state === 'succeeded' && world.effects === 0) return 'it is recorded as done, and was not'
  return undefined
}

interface Explored {
  readonly worlds: number
  readonly final: ReadonlySet<string>
  /** The steps to the first world that is wrong, and what is wrong with it. */
  readonly wrong: readonly string[] | undefined
}

/** Every world that can be reached, breadth first, so that a counter-example is a shortest one. */
function explore(effect: Effect, rules: Rules, workers: number): Explored {
  const first = start(workers)
  const from = new Map<string, { readonly before: string | undefined; readonly step: string }>()
  from.set(keyOf(first), { before: undefined, step: 'start' })
  const final = new Set<string>()
  for (let layer: readonly World[] = [first]; layer.length > 0;) {
    const following: World[] = []
    for (const world of layer) {
      const wrong = wrongIn(world, effect)
      if (wrong !== undefined) return { worlds: from.size, final, wrong: [...pathTo(keyOf(world), from), wrong] }
      let stuck = true
      for (const [step, after] of next(world, effect, rules)) {
        stuck = false
        const key = keyOf(after)
        if (from.has(key)) continue
        from.set(key, { before: keyOf(world), step })
        following.push(after)
      }
      if (stuck) final.add(world.state)
    }
    layer = following
  }
  return { worlds: from.size, final, wrong: undefined }
}

/** Workers are alike: worlds that differ only in which one does what are the same. */
function keyOf(world: World): string {
  return JSON.stringify({ ...world, workers: world.workers.map((worker) => JSON.stringify(worker)).toSorted() })
}

function pathTo(
  key: string,
  from: ReadonlyMap<string, { readonly before: string | undefined; readonly step: string }>,
): readonly string[] {
  const steps: string[] = []
  for (let at: string | undefined = key; at !== undefined; at = from.get(at)?.before) steps.unshift(from.get(at)!.step)
  return steps
}

describe('every order of steps of three workers', () => {
  test.each(EFFECTS)('%s', (effect) => {
    const { worlds, wrong } = explore(effect, ALL_RULES, 3)
    expect(wrong).toBeUndefined()
    expect(worlds).toBeGreaterThan(50)
  })

  test('an execution that was begun and has no worker left is unknown or can be taken over, never silently over', () => {
    // With as many claims as the model allows used up, an unfinished one stays executing.
    expect(explore('unsafe', ALL_RULES, 2).final).toEqual(new Set(['ready', 'succeeded', 'failed']))
    expect(explore('idempotent', ALL_RULES, 2).final).toEqual(new Set(['ready', 'executing', 'succeeded', 'failed']))
  })
})

describe('each rule is needed', () => {
  test.each<[keyof Rules, Effect, string]>([
    ['giveUpUnsafe', 'unsafe', 'the effect happened 2 times'],
    ['askFirst', 'queryable', 'the effect happened 2 times'],
    ['keys', 'idempotent', 'the effect happened 2 times'],
    ['doubt', 'idempotent', 'it is recorded as not done, and was'],
    ['fencing', 'idempotent', 'it is recorded as not done, and was'],
    ['rowFirst', 'unsafe', 'the effect happened, and no row says that it may have'],
  ])('without %s, %s: %s', (rule, effect, what) => {
    const { wrong } = explore(effect, { ...ALL_RULES, [rule]: false }, 2)
    expect(wrong?.at(-1)).toBe(what)
  })
})
