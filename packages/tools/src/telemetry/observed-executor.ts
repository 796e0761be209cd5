import type { ReadyToolCall } from 'streamfold'
import type { BatchPlace, BatchResult, ToolBatch } from '../executor/executor-api.ts'
import type { Tool } from '../define/tool.ts'
import { callLine } from './call-line.ts'
import type { CallLine } from './call-line.ts'
import type { Instruments } from './instruments.ts'

/** What is watched of an executor. */
interface Runs {
  readonly tools: readonly Tool[]
  run(batch: ToolBatch, place: BatchPlace): Promise<BatchResult>
}

/** The executor, with every call it answers counted by how it ended, and told line by line. */
export function observedExecutor<E extends Runs>(
  executor: E,
  instruments: Instruments,
  onCall: ((line: CallLine) => void) | undefined,
): E {
  const names = new Set(executor.tools.map(({ name }) => name))
  const run = async (batch: ToolBatch, place: BatchPlace): Promise<BatchResult> => {
    const answer = await executor.run(batch, place)
    for (const [at, result] of answer.results.entries()) {
      const { status, code, replayed } = result
      // A name that no tool has is the model's own: it must not become a label.
      const tool = names.has(result.name) ? result.name : 'unknown'
      instruments.callState({ 'gen_ai.tool.name': tool, state: status, ...(code === undefined ? {} : { code }) })
      if (replayed) instruments.duplicateSuppressed({ 'gen_ai.tool.name': tool })
      onCall?.(callLine(place, batch.choice, batch.calls[at] as ReadyToolCall, result))
    }
    return answer
  }
  // The executor may be an object with private parts: all but `run` is left to it, and called on it.
  return new Proxy(executor, {
    get(target, member) {
      if (member === 'run') return run
      const value: unknown = Reflect.get(target, member, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
