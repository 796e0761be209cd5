/** Lets at most `size` of them run at once; the others wait in line. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(size: number) {
    this.#free = size
  }

  get free(): number {
    return this.#free
  }

  /** Takes a slot when one is free. */
  tryTake(): boolean {
    if (this.#free === 0) return false
    this.#free -= 1
    return true
  }

  /** Takes what is free, up to so many. @returns how many it took */
  takeUpTo(limit: number): number {
    const taken = Math.max(0, Math.min(limit, this.#free))
    this.#free -= taken
    return taken
  }

  async take(): Promise<void> {
    if (this.tryTake()) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  give(count = 1): void {
    for (let left = count; left > 0; left -= 1) {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}
