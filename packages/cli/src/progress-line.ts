import type { CommandIo } from './command-io.ts'

/** More often than this no eye can follow. */
const REDRAW_MS = 100

/**
 * One line of progress on standard error, drawn over itself; on an output that is no terminal there is none, for a log has no use for
 * it.
 */
export class ProgressLine {
  readonly #io: Pick<CommandIo, 'stderr' | 'env'>
  readonly #shows: boolean
  #drawnAt = -Infinity
  #drawn = false

  constructor(io: Pick<CommandIo, 'stderr' | 'env'>) {
    this.#io = io
    this.#shows = io.stderr.isTTY && io.env['TERM'] !== 'dumb'
  }

  show(text: string): void {
    const now = performance.now()
    if (!this.#shows || now - this.#drawnAt < REDRAW_MS) return
    this.#drawnAt = now
    this.#drawn = true
    const columns = this.#io.stderr.stream.columns ?? 80
    void this.#io.stderr.write(`\r\u001b[2K${text.slice(0, Math.max(10, columns - 1))}`)
  }

  /** `[#####.....]  50%` and a text. */
  bar(done: number, total: number, text: string): void {
    const width = 20
    const share = total === 0 ? 1 : done / total
    const filled = Math.round(share * width)
    this.show(
      `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${String(Math.floor(share * 100)).padStart(3)}% ${text}`,
    )
  }

  /** Takes the line away again. */
  async clear(): Promise<void> {
    if (this.#drawn) await this.#io.stderr.write('\r\u001b[2K')
    this.#drawn = false
  }
}
