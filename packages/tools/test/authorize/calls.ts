import type { ReadyToolCall } from 'streamfold'
import { readStrict } from 'streamfold/json'
import { defineTool } from '../../src/define/define-tool.ts'
import type { ToolDefinition } from '../../src/define/define-tool.ts'
import type { JsonSchema } from '../../src/define/json-schema.ts'
import type { CallContext } from '../../src/define/tool.ts'
import type { Tool } from '../../src/define/tool.ts'
import type { Policy } from '../../src/authorize/policy.ts'

/** A call as the core releases it. */
export function call(name: string, argumentsText: string, more: Partial<ReadyToolCall> = {}): ReadyToolCall {
  const read = readStrict(argumentsText)
  const parsedArguments = (read.ok ? read.value : {}) as ReadyToolCall['parsedArguments']
  return { callId: 'call_1', ordinal: 0, name, argumentsText, parsedArguments, ...more }
}

export const CONTEXT: CallContext = { tenant: 'acme', runId: 'run_1', turn: 1, attempt: 1, choice: 0 }

export const ALLOW_ALL: Policy = { revision: 'p1', rules: [{ tools: '*', decision: 'allow' }] }

/** A tool that takes `{ "id"?: string, "n"?: number }`. */
export function tool(more: Partial<ToolDefinition<JsonSchema, unknown>> = {}): Tool {
  return defineTool<JsonSchema, unknown>({
    name: 'probe',
    description: 'For tests.',
    effect: 'read',
    parameters: { type: 'object', properties: { id: { type: 'string' }, n: { type: 'number' } } },
    execute: () => 1,
    ...more,
  })
}
