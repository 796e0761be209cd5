import { GraphemeSplitter } from './graphemes.ts'

/** Time as {@link pace} sees it: another one in tests, or the frames of a display. */
export interface PaceClock {
  /** Monotonic milliseconds. */
  now(): number
  /** Calls back once, after about this many milliseconds; what it gives cancels that. */
  after(ms: number, callback: () => void): () => void
}

/** The rhythm. Every number must be more than 0; `Infinity` lifts its bound. */
export interface PaceOptions {
  /** Characters per second as a reader counts them. Default 120. */
  readonly charsPerSecond?: number
  /**
   * How far the view may lag behind what has come, in milliseconds. With more text waiting than the rhythm can show in this time, the
   * rhythm quickens just enough. Default 1000.
   */
  readonly maxLagMs?: number
  /** Time between two pieces, in milliseconds. Default 16: one frame of a usual screen. */
  readonly frameMs?: number
  /** Ends the stream at once; what was not shown is dropped, and what is pending rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Default: the platform's timers. */
  readonly clock?: PaceClock
}

/**
 * Replays text at a steady rhythm, for a typewriter view: bursts of the network are smoothed, the rhythm catches up when it falls
 * behind, and when the source has ended the rest comes at once. A piece is always whole characters as readers see them: an emoji that
 * came in two deltas is shown in one. No text is lost, added or reordered.
 *
 * Reads ahead of what it shows, up to 16 384 characters. The last character is held until it can't grow any more. Leaving the loop
 * gives the source up.
 *
 * @throws TypeError at once for a number that is not more than 0; later what the source throws, after the text before it; the signal's reason once it is aborted
 */
export function pace(source: AsyncIterable<string>, options: PaceOptions = {}): AsyncIterableIterator<string> {
  const { charsPerSecond = 120, maxLagMs = 1000, frameMs = 16 } = options
  for (const [name, value] of Object.entries({ charsPerSecond, maxLagMs, frameMs })) {
    if (!(value > 0)) throw new TypeError(`pace: ${name} must be more than 0, not ${value}`)
  }
  return new PacedText(source, { charsPerSecond, maxLagMs, frameMs }, options.clock ?? PLATFORM_CLOCK, options.signal)
}

const PLATFORM_CLOCK: PaceClock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

/** With this many characters waiting, nothing more is read until some were shown. */
const MOST_PENDING = 16_384

interface Rhythm {
  readonly charsPerSecond: number
  readonly maxLagMs: number
  readonly frameMs: number
}

interface Waiting {
  readonly resolve: (result: IteratorResult<string, undefined>) => void
  readonly reject: (error: unknown) => void
}

type Ending = { readonly error?: unknown; readonly failed: boolean }

class PacedText implements AsyncIterableIterator<string> {
  readonly #source: AsyncIterator<string>
  readonly #rhythm: Rhythm
  readonly #clock: PaceClock
  readonly #signal: AbortSignal | undefined
  readonly #splitter = new GraphemeSplitter()
  /** Whole characters that were not shown yet, from `#shown` on. */
  #graphemes: string[] = []
  #shown = 0
  /** The last character, which may still grow. */
  #open = ''
  /** How much may be shown, in characters; a fraction is kept for the next frame. */
  #credit = 0
  #lastMs: number | undefined
  #ending: Ending | undefined
  readonly #waiting: Waiting[] = []
  #cancelTimer: (() => void) | undefined
  #reading = false
  #resume: (() => void) | undefined
  #over = false
  readonly #onAbort = (): void => this.#abort()

  constructor(source: AsyncIterable<string>, rhythm: Rhythm, clock: PaceClock, signal: AbortSignal | undefined) {
    this.#source = source[Symbol.asyncIterator]()
    this.#rhythm = rhythm
    this.#clock = clock
    this.#signal = signal
    signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<string, undefined>> {
    if (this.#signal?.aborted === true) this.#abort()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      if (!this.#reading) {
        this.#reading = true
        void this.#readAll()
      }
      this.#show()
    })
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    this.#stop({ failed: false })
    this.#drop()
    this.#show()
    await this.#source.return?.()
    return { done: true, value: undefined }
  }

  async #readAll(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.#source.next()
        if (this.#over) return
        if (done === true) break
        this.#take(value)
        this.#show()
        while (this.#pending > MOST_PENDING && !this.#over)
          await new Promise<void>((resolve) => (this.#resume = resolve))
      }
      this.#stop({ failed: false })
    } catch (error) {
      if (!this.#over) this.#stop({ failed: true, error })
    }
    this.#show()
  }

  #take(text: string): void {
    if (text === '') return
    // A rest from the time when nothing was there to show would come as a burst.
    if (this.#pending === 0 && this.#open === '') this.#lastMs = this.#clock.now()
    const all = this.#open + text
    // Half of a surrogate pair may turn out to belong to the character before it.
    const half = /[\uD800-\uDBFF]$/.test(all) ? all.slice(-1) : ''
    const graphemes = this.#splitter.split(half === '' ? all : all.slice(0, -1))
    this.#open = (graphemes.at(-1) ?? '') + half
    for (let i = 0; i < graphemes.length - 1; i++) this.#graphemes.push(graphemes[i]!)
  }

  get #pending(): number {
    return this.#graphemes.length - this.#shown
  }

  /** Answers whoever waits, as far as there is something to answer; else sets the timer. */
  #show(): void {
    while (this.#waiting.length > 0) {
      const piece = this.#ending === undefined ? this.#piece() : this.#rest()
      if (piece !== '') {
        this.#waiting.shift()!.resolve({ done: false, value: piece })
        continue
      }
      if (this.#ending === undefined) break
      const { failed, error } = this.#ending
      this.#ending = { failed: false }
      if (failed) this.#waiting.shift()!.reject(error)
      else this.#waiting.shift()!.resolve({ done: true, value: undefined })
    }
    if (this.#waiting.length > 0 && this.#pending > 0 && this.#cancelTimer === undefined) {
      this.#cancelTimer = this.#clock.after(this.#rhythm.frameMs, () => {
        this.#cancelTimer = undefined
        this.#show()
      })
    }
  }

  /** What may be shown by now; `''` when it is too early. */
  #piece(): string {
    const now = this.#clock.now()
    const elapsedMs = now - (this.#lastMs ?? now)
    this.#lastMs = now
    const { charsPerSecond, maxLagMs, frameMs } = this.#rhythm
    const perMs = Math.max(charsPerSecond / 1000, this.#pending / maxLagMs)
    // Infinity times no time at all would be no number.
    this.#credit = perMs === Infinity ? this.#pending : Math.min(this.#credit + elapsedMs * perMs, this.#pending)
    // Not more often than once a frame, unless the rhythm is slower than that anyway.
    const least = Math.max(1, Math.floor(perMs * frameMs))
    // Ten tenths are a little less than one.
    const credit = this.#credit + 1e-6
    if (credit < least && credit < this.#pending) return ''
    const count = Math.floor(credit)
    this.#credit -= count
    return this.#cut(count)
  }

  #rest(): string {
    const rest = this.#cut(this.#pending) + this.#open
    this.#open = ''
    return rest
  }

  #cut(count: number): string {
    const piece = this.#graphemes.slice(this.#shown, this.#shown + count).join('')
    this.#shown += count
    this.#resume?.()
    // What was shown is let go before it outgrows what is left.
    if (this.#shown > 1024 && this.#shown * 2 > this.#graphemes.length) {
      this.#graphemes = this.#graphemes.slice(this.#shown)
      this.#shown = 0
    }
    return piece
  }

  #abort(): void {
    if (this.#over) return
    this.#stop({ failed: true, error: this.#signal?.reason })
    this.#drop()
    void Promise.resolve(this.#source.return?.()).catch(() => {})
    this.#show()
  }

  #drop(): void {
    this.#graphemes = []
    this.#shown = 0
    this.#open = ''
  }

  #stop(ending: Ending): void {
    if (this.#over) return
    this.#over = true
    this.#resume?.()
    this.#ending = ending
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#signal?.removeEventListener('abort', this.#onAbort)
  }
}
