import type { StreamAdapter } from '../adapters/adapter.ts'
import type { StreamEngine, StreamEngineOptions } from './stream-engine.ts'

const UTF8: TextEncoder = /* @__PURE__ */ new TextEncoder()
/** By API. */
const KEPT: Map<string, StreamEngine> = /* @__PURE__ */ new Map()

/**
 * Keeps an engine that has read the adapter's sample and never ends. An engine of JavaScript throws its optimised code away when the last
 * object of a shape is collected: after a moment without streams the next one would start cold, and on some runs stay slow for
 * good. What is kept holds nothing of any stream; it is made once, and costs less than the first events of a stream.
 */
export function keepEngine(adapter: StreamAdapter, create: (options: StreamEngineOptions) => StreamEngine): void {
  const { api, sample } = adapter
  if (sample === undefined || KEPT.has(api)) return
  const engine = create({ adapter })
  KEPT.set(api, engine)
  engine.push(UTF8.encode(sample.map((data) => `data: ${data}\n\n`).join('')))
  engine.snapshot()
}
