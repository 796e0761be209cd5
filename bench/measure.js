import { readFileSync } from 'node:fs'

/**
 * Milliseconds that the main thread has been on a CPU. The scheduler brings its counter up to date at ticks, so a sample has to
 * last many of them: see {@link calibrate}.
 */
export function onCpuMs() {
  if (process.platform === 'linux') {
    try {
      return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
    } catch {
      // Not every kernel has it.
    }
  }
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e3
}

/**
 * @typedef {{ name: string, run: () => unknown }} Contender
 * @typedef {{ name: string, samples: number[], median: number, min: number }} Measured
 */

/**
 * Alternates contenders in shuffled order; the first rounds are dropped.
 * @param {readonly Contender[]} contenders @param {{ rounds: number, warmup?: number }} options @returns {Promise<Measured[]>}
 */
export async function alternate(contenders, { rounds, warmup = 2, sampleMs = 60 }) {
  const samples = new Map(contenders.map(({ name }) => [name, []]))
  const repeats = new Map()
  for (const { name, run } of contenders) repeats.set(name, await calibrate(run, sampleMs))
  for (let round = 0; round < rounds + warmup; round++) {
    for (const { name, run } of shuffled(contenders, round)) {
      globalThis.gc?.()
      // A full collection throws optimised code away, of some contenders more than of others; that is not what is measured here.
      await run()
      const times = repeats.get(name)
      const before = onCpuMs()
      for (let i = 0; i < times; i++) await run()
      const spent = (onCpuMs() - before) / times
      if (round >= warmup) samples.get(name).push(spent)
    }
  }
  return [...samples].map(([name, list]) => ({ name, samples: list, median: median(list), min: Math.min(...list) }))
}

/** How often a contender is run for one sample; warms it up on the way. */
async function calibrate(run, sampleMs) {
  let fastest = Infinity
  for (let i = 0; i < 3; i++) {
    const before = performance.now()
    await run()
    fastest = Math.min(fastest, performance.now() - before)
  }
  return Math.max(1, Math.min(200, Math.ceil(sampleMs / fastest)))
}

export function median(list) {
  const sorted = [...list].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Growth exponent of cost over size, from the first to the last. */
export function exponent(costs, sizes) {
  const last = costs.length - 1
  return Math.log(costs[last] / costs[0]) / Math.log(sizes[last] / sizes[0])
}

function shuffled(list, seed) {
  const out = [...list]
  let state = (seed + 1) * 2654435761
  for (let i = out.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const j = state % (i + 1)
    ;[out[i], out[j]] = [out[j], out[i]]
  }
  return out
}
