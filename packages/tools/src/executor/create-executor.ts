import { createGate } from '../authorize/create-gate.ts'
import type { GateOptions } from '../authorize/create-gate.ts'
import type { Tool } from '../define/tool.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { createGatedExecutor } from './executor.ts'
import type { Executor } from './executor-api.ts'
import type { ExecutorOptions } from './executor-options.ts'

export interface CreateExecutorOptions extends Omit<ExecutorOptions, 'gate' | 'tools'>, GateOptions {}

/** An executor that also says what it was made of; conversations need it. */
export interface ToolExecutor extends Executor {
  readonly tools: readonly Tool[]
  readonly ledger: Ledger
}

/**
 * Runs the calls of `tool_batch_ready` events: each through every check of the policy, recorded before anything happens, and
 * once.
 * @throws {TypeError} for an option that is missing, a policy that would not do what it says, and two tools of one name
 * @throws {RangeError} for a number that makes no sense
 */
export function createExecutor(options: CreateExecutorOptions): ToolExecutor {
  const { tools, ledger } = options
  const gate = createGate(options)
  const names = tools.map(({ name }) => name)
  return Object.assign(createGatedExecutor({ ...options, gate, tools: names }), { tools, ledger })
}
