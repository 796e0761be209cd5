import { GapHistogram } from './arrival-spread.ts'

/** How output arrived: as a stream, in bursts through a buffering hop, or all at once after the whole answer was made. */
export type Streaming = 'real' | 'bursty' | 'fake' | 'unknown'

/** Fewer outputs than this say nothing about how they arrived. */
const ENOUGH_OUTPUTS = 8
/** Outputs closer than this arrived together. */
const TOGETHER_MS = 2
const BURST_OUTPUTS = 8
const BURST_GAP_MS = 100

/**
 * Judges arrival from the instants of reads alone. A model gives a few pieces at a time; when many come together and then
 * nothing for a while, a hop held them back (faults F115, F201).
 */
export class ArrivalLog {
  #outputs = 0
  #groups = 0
  #groupAt: number | undefined
  #gapSum = 0
  #firstAt: number | undefined
  #lastReadAt: number | undefined
  readonly gaps: GapHistogram = new GapHistogram()
  reads = 0
  longestGapMs: number | undefined
  /** Where the read begins that ended the longest gap: bytes and whole events before it. */
  longestGapAt: { readonly offset: number; readonly event: number } | undefined

  /** A read arrived, behind so many bytes and events. */
  read(atMs: number, offset = 0, event = 0): void {
    this.reads++
    if (this.#lastReadAt !== undefined) {
      const gapMs = atMs - this.#lastReadAt
      this.gaps.add(gapMs)
      if (gapMs > (this.longestGapMs ?? 0)) this.longestGapAt = { offset, event }
      this.longestGapMs = Math.max(this.longestGapMs ?? 0, gapMs)
    }
    this.#lastReadAt = atMs
  }

  /** A piece of output arrived. */
  output(atMs: number): void {
    this.#outputs++
    this.#firstAt ??= atMs
    if (this.#groupAt === undefined || atMs - this.#groupAt > TOGETHER_MS) {
      if (this.#groupAt !== undefined) this.#gapSum += atMs - this.#groupAt
      this.#groups++
      this.#groupAt = atMs
    }
  }

  judge(startMs: number | undefined): Streaming {
    if (this.#outputs < ENOUGH_OUTPUTS || this.#firstAt === undefined) return 'unknown'
    if (this.#groups === 1) {
      const waited = startMs === undefined ? 0 : this.#firstAt - startMs
      return waited >= BURST_GAP_MS ? 'fake' : 'unknown'
    }
    const perGroup = this.#outputs / this.#groups
    const meanGap = this.#gapSum / (this.#groups - 1)
    return perGroup >= BURST_OUTPUTS && meanGap >= BURST_GAP_MS ? 'bursty' : 'real'
  }
}
