/** Numbers from 0 up to, not including, 1. */
export type Random = () => number

/** Mulberry32: the same numbers for the same seed, on every machine and in every version. */
export function seededRandom(seed: number): Random {
  let state = (seed ^ 0x5eed_f01d) >>> 0
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
