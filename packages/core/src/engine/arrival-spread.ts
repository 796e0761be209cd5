/** Gaps below this are none. */
const SMALLEST_MS = 0.01
/** A bucket reaches to this many times its lower end. */
const STEP = 1.1
const LOG_STEP = Math.log(STEP)
/** Enough for gaps of months. */
const MOST_BUCKETS = 320

/** Percentiles of gaps, to within 5 %, in memory that does not grow with the stream. */
export class GapHistogram {
  readonly #buckets: number[] = []
  #count = 0
  #longest = 0

  add(ms: number): void {
    const at = ms < SMALLEST_MS ? 0 : 1 + Math.min(MOST_BUCKETS, Math.floor(Math.log(ms / SMALLEST_MS) / LOG_STEP))
    this.#buckets[at] = (this.#buckets[at] ?? 0) + 1
    this.#count++
    if (ms > this.#longest) this.#longest = ms
  }

  /** The gap that this share of all gaps do not exceed; undefined without gaps. */
  quantile(share: number): number | undefined {
    const wanted = Math.max(1, Math.ceil(share * this.#count))
    let seen = 0
    for (let at = 0; at < this.#buckets.length; at++) {
      seen += this.#buckets[at] ?? 0
      if (seen >= wanted) return at === 0 ? 0 : Math.min(this.#longest, SMALLEST_MS * STEP ** (at - 0.5))
    }
    return undefined
  }
}

const SLOTS = 256

/** How much output came when, in slots whose width doubles as time goes on: memory does not grow with the stream. */
export class OutputHistogram {
  #slots: number[] = []
  #widthMs = 1
  #originMs: number | undefined
  #lastMs = 0
  #bytes = 0

  add(atMs: number, bytes: number): void {
    if (bytes === 0) return
    this.#originMs ??= atMs
    this.#lastMs = Math.max(this.#lastMs, atMs)
    const sinceMs = Math.max(0, atMs - this.#originMs)
    while (sinceMs >= SLOTS * this.#widthMs) this.#fold()
    const at = Math.floor(sinceMs / this.#widthMs)
    this.#slots[at] = (this.#slots[at] ?? 0) + bytes
    this.#bytes += bytes
  }

  /**
   * The share of the output that came in the last tenth of the time from `startMs` to the last of it: about 0.1 for what is
   * written steadily from the start, 1 for what was held back until the end. Undefined without output or time.
   */
  lateShare(startMs: number): number | undefined {
    const spanMs = this.#lastMs - startMs
    if (this.#originMs === undefined || spanMs <= 0) return undefined
    const from = Math.floor((this.#lastMs - spanMs / 10 - this.#originMs) / this.#widthMs)
    let late = 0
    for (let at = Math.max(0, from); at < this.#slots.length; at++) late += this.#slots[at] ?? 0
    return late / this.#bytes
  }

  #fold(): void {
    const folded: number[] = []
    for (let at = 0; at < this.#slots.length; at += 2) {
      folded.push((this.#slots[at] ?? 0) + (this.#slots[at + 1] ?? 0))
    }
    this.#slots = folded
    this.#widthMs *= 2
  }
}
