import type { Effect } from '../../src/define/tool.ts'
import { EXECUTION_MOVES } from '../../src/ledger/states.ts'
import type { ExecutionState } from '../../src/ledger/states.ts'

/**
 * A model of one execution, its row, and workers that may stop anywhere, for ever or for a while. Time is only this: a lease
 * may end at any moment, whether or not its holder is alive. Every step is one commit, or one thing a worker does alone.
 */
export interface World {
  readonly state: ExecutionState
  readonly fence: number
  readonly leaseOver: boolean
  /** The outcome that counts, once there is one. */
  readonly recorded: 'done' | 'not done' | 'by a person' | null
  readonly workers: readonly Worker[]
  /** Times the effect happened outside. */
  readonly effects: number
  /** The other side refuses older fences (for queryable tools). */
  readonly closedBelow: number
  readonly cancelled: boolean
  /** Somebody was told the outcome of the call. */
  readonly acknowledged: 'succeeded' | 'failed' | null
}

export interface Worker {
  readonly at: 'idle' | 'claimed' | 'asked' | 'entered' | 'acted' | 'returned' | 'done' | 'dead'
  readonly fence: number
  /** What it will report. */
  readonly outcome: 'succeeded' | 'failed' | null
}

/** Rules that can be left out, to see that each of them is needed. */
export interface Rules {
  /** A finish counts only under the newest fence. */
  readonly fencing: boolean
  /** An unsafe execution is given up, not run again. */
  readonly giveUpUnsafe: boolean
  /** A queryable one is asked before it is run again. */
  readonly askFirst: boolean
  /** The other side does an idempotent deed once for one key. */
  readonly keys: boolean
  /** The row says `executing` before the tool is entered. */
  readonly rowFirst: boolean
  /** "Nothing happened" of a second try is not the last word about the first. */
  readonly doubt: boolean
}

export const ALL_RULES: Rules = {
  fencing: true,
  giveUpUnsafe: true,
  askFirst: true,
  keys: true,
  rowFirst: true,
  doubt: true,
}

export function start(workers: number): World {
  return {
    state: 'ready',
    fence: 0,
    leaseOver: false,
    recorded: null,
    workers: Array.from({ length: workers }, () => ({ at: 'idle', fence: 0, outcome: null })),
    effects: 0,
    closedBelow: 0,
    cancelled: false,
    acknowledged: null,
  }
}

/** Claims at most; more only repeat what was seen. */
const LARGEST_FENCE = 3

/** All worlds that can follow, each with the name of the step. */
export function* next(world: World, effect: Effect, rules: Rules): Generator<readonly [string, World]> {
  const move = (to: ExecutionState, change: Partial<World>): World => {
    if (world.state !== to && !EXECUTION_MOVES[world.state].includes(to)) {
      throw new Error(`${world.state} may not become ${to}`)
    }
    return { ...world, ...change, state: to }
  }
  const final = world.state === 'succeeded' || world.state === 'failed'
  if (world.state === 'executing' && !world.leaseOver) yield ['the lease ends', { ...world, leaseOver: true }]
  if (!world.cancelled && !final) yield ['cancel', { ...world, cancelled: true }]
  if (world.state === 'executing' && world.leaseOver && effect === 'unsafe' && rules.giveUpUnsafe) {
    yield ['sweep', move('unknown', { leaseOver: false })]
  }
  if (world.state === 'unknown') {
    // A person looks outside, and sees what is there.
    yield ['settle', move(world.effects > 0 ? 'succeeded' : 'failed', { recorded: 'by a person' })]
  }
  for (const [at, worker] of world.workers.entries()) {
    const become = (change: Partial<Worker>): readonly Worker[] =>
      world.workers.map((each, index) => (index === at ? { ...each, ...change } : each))
    const name = (step: string): string => `${step} (${at})`
    if (worker.at !== 'idle' && worker.at !== 'dead' && worker.at !== 'done') {
      yield [name('dies'), { ...world, workers: become({ at: 'dead' }) }]
      if (world.state === 'executing' && world.leaseOver && worker.fence === world.fence) {
        yield [name('heartbeat'), { ...world, leaseOver: false }]
      }
    }
    const fence = world.fence + 1
    switch (worker.at) {
      case 'idle':
        if (!rules.rowFirst && world.state === 'ready') {
          yield [name('enters without a row'), { ...world, workers: become({ at: 'entered', fence }) }]
        }
        if (fence > LARGEST_FENCE) break
        if (world.state === 'ready' && !world.cancelled) {
          yield [
            name('claims'),
            move('executing', { fence, leaseOver: false, workers: become({ at: 'claimed', fence }) }),
          ]
        }
        if (world.state === 'executing' && world.leaseOver && (effect !== 'unsafe' || !rules.giveUpUnsafe)) {
          yield [
            name('reclaims'),
            move('executing', { fence, leaseOver: false, workers: become({ at: 'claimed', fence }) }),
          ]
        }
        break
      case 'claimed':
        if (worker.fence > 1 && effect === 'queryable' && rules.askFirst) {
          if (world.effects > 0) {
            yield [name('finds it done'), { ...world, workers: become({ at: 'returned', outcome: 'succeeded' }) }]
          } else {
            yield [
              name('asks'),
              { ...world, closedBelow: Math.max(world.closedBelow, worker.fence), workers: become({ at: 'asked' }) },
            ]
          }
        } else yield [name('enters'), { ...world, workers: become({ at: 'entered' }) }]
        break
      case 'asked':
        yield [name('enters'), { ...world, workers: become({ at: 'entered' }) }]
        break
      case 'entered':
        if (effect === 'idempotent' && worker.fence > 1 && rules.doubt) {
          // It speaks for itself only; an earlier one may have done it, or may still do it.
          yield [name('fails, and leaves it'), { ...world, workers: become({ at: 'done' }) }]
        } else {
          yield [name('fails with no effect'), { ...world, workers: become({ at: 'returned', outcome: 'failed' }) }]
        }
        if (effect === 'queryable' && worker.fence < world.closedBelow) break
        yield [
          name('acts'),
          {
            ...world,
            effects: effect === 'idempotent' && rules.keys ? 1 : world.effects + 1,
            workers: become({ at: 'acted' }),
          },
        ]
        break
      case 'acted':
        yield [name('returns'), { ...world, workers: become({ at: 'returned', outcome: 'succeeded' }) }]
        break
      case 'returned': {
        const newest = worker.fence === world.fence || !rules.fencing
        if (newest && (world.state === 'executing' || world.state === 'unknown')) {
          const to = worker.outcome === 'succeeded' ? 'succeeded' : 'failed'
          yield [
            name('finishes'),
            move(to, {
              recorded: to === 'succeeded' ? 'done' : 'not done',
              workers: become({ at: 'done' }),
              acknowledged: to,
            }),
          ]
        } else yield [name('is too late'), { ...world, workers: become({ at: 'done' }) }]
        break
      }
      case 'done':
      case 'dead':
        break
    }
  }
}
