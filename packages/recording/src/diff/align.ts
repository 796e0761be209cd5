/** A stretch of two lists: equal, or what stands in place of what. */
export interface Stretch {
  readonly equal: boolean
  /** From and to, the end excluded. */
  readonly a: readonly [number, number]
  readonly b: readonly [number, number]
}

/** The table below has this many cells at most; beyond it, one stretch says that all is different. */
const MAX_CELLS = 4_000_000

/**
 * Lays two lists of keys beside each other so that as many as possible are equal and in order (longest common subsequence).
 * Equal beginnings and ends are free, so long streams with few differences are cheap.
 */
export function align(a: readonly string[], b: readonly string[]): readonly Stretch[] {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  const stretches: Stretch[] = []
  const add = (equal: boolean, fromA: number, toA: number, fromB: number, toB: number): void => {
    if (fromA === toA && fromB === toB) return
    const last = stretches.at(-1)
    if (last?.equal === equal) stretches[stretches.length - 1] = { equal, a: [last.a[0], toA], b: [last.b[0], toB] }
    else stretches.push({ equal, a: [fromA, toA], b: [fromB, toB] })
  }
  add(true, 0, head, 0, head)
  middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail), (equal, fromA, toA, fromB, toB) =>
    add(equal, head + fromA, head + toA, head + fromB, head + toB),
  )
  add(true, a.length - tail, a.length, b.length - tail, b.length)
  return stretches
}

type Add = (equal: boolean, fromA: number, toA: number, fromB: number, toB: number) => void

function middle(a: readonly string[], b: readonly string[], add: Add): void {
  if (a.length === 0 || b.length === 0 || a.length * b.length > MAX_CELLS) {
    add(false, 0, a.length, 0, b.length)
    return
  }
  const columns = b.length + 1
  // Longest common subsequence of what is left from each cell on.
  const lengths = new Uint32Array((a.length + 1) * columns)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * columns + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * columns + j + 1]! + 1
          : Math.max(lengths[(i + 1) * columns + j]!, lengths[i * columns + j + 1]!)
    }
  }
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) add(true, i, ++i, j, ++j)
    else if (j >= b.length || (i < a.length && lengths[(i + 1) * columns + j]! >= lengths[i * columns + j + 1]!)) {
      add(false, i, ++i, j, j)
    } else add(false, i, i, j, ++j)
  }
}
