import type { ReadyToolCall } from 'streamfold'
import { readStrict } from 'streamfold/json'
import { expect } from 'vitest'
import { defineTool } from '../../src/define/define-tool.ts'
import type { ToolDefinition } from '../../src/define/define-tool.ts'
import type { JsonSchema } from '../../src/define/json-schema.ts'
import type { CallContext } from '../../src/define/tool.ts'
import type { Tool } from '../../src/define/tool.ts'
import { createGate } from '../../src/authorize/create-gate.ts'
import type { GateOptions } from '../../src/authorize/create-gate.ts'
import type { Policy, PolicyHook } from '../../src/authorize/policy.ts'
import type { GateCheck, GateRefusal, GateVerdict } from '../../src/gate.ts'

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

const ORDER: readonly GateCheck[] = [
  'allow_list',
  'call_id',
  'size',
  'strict_json',
  'schema',
  'resources',
  'permission',
  'approval',
]

/** The verdict of a gate that lets everything pass, unless the options say otherwise. */
export function check(
  ready: ReadyToolCall,
  options: Partial<GateOptions> = {},
  context: Partial<CallContext> = {},
): Promise<GateVerdict> {
  const gate = createGate({ tools: [tool()], policy: ALLOW_ALL, ...options })
  return gate.check(ready, { ...CONTEXT, ...context })
}

/** What was passed before the refusal, and what it says. */
export function refusalOf(verdict: GateVerdict): {
  code: string
  phase: string
  at: GateCheck | undefined
  message: string
} {
  const { code, phase, message, evidence } = verdict as GateRefusal
  expect(verdict.kind).toBe('refuse')
  const last = evidence.at(-1)
  expect(last).toMatchObject({ outcome: 'fail' })
  const passed = evidence.slice(0, -1).filter(({ shadow }) => shadow === undefined)
  expect(passed.map((one) => one.check)).toEqual(ORDER.slice(0, ORDER.indexOf(last?.check as GateCheck)))
  return { code, phase, at: last?.check, message }
}

/** `pass`, or the check that refused, with code and phase. */
export function summaryOf(verdict: GateVerdict): string {
  if (verdict.kind === 'pass') return 'pass'
  const { at, code, phase } = refusalOf(verdict)
  return `${at} ${code} ${phase}`
}

export const hook = (decide: PolicyHook['decide'], shadow = false): PolicyHook => ({ name: 'h', decide, shadow })
export const withHooks = (...hooks: PolicyHook[]): Policy => ({ ...ALLOW_ALL, hooks })
