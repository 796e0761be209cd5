import type { JsonObject, ReadyToolCall } from 'streamfold'
import type { Tool } from '../../src/define/tool.ts'
import type { Gate, GatePass, GateVerdict } from '../../src/gate.ts'
import { sha256Hex } from '../../src/validate/sha256.ts'

/** Parts of a tool; nothing is set to `undefined`. */
export type ToolOptions = { readonly [Name in keyof Tool]?: NonNullable<Tool[Name]> } & Pick<Tool, 'execute'>

/** A tool without a schema: tests of the executor are not about arguments. */
export function tool(name: string, options: ToolOptions): Tool {
  return {
    name,
    description: name,
    effect: 'unsafe',
    inputSchema: {},
    schemaHash: '',
    schemaFindings: [],
    validator: { validate: (value) => ({ ok: true, value }) },
    ...options,
  }
}

/** Lets every known tool pass, unless `answer` says something else. */
export function gateOf(
  tools: readonly Tool[],
  answer: (
    name: string,
    moment: 'check' | 'recheck',
    input: JsonObject,
  ) => Partial<GatePass> | GateVerdict = () => ({}),
): Gate {
  const judge = (name: string, inputJson: string, moment: 'check' | 'recheck'): GateVerdict => {
    const found = tools.find((each) => each.name === name)
    if (found === undefined) {
      return { kind: 'refuse', code: 'unknown_tool', phase: 'validate', message: `no tool ${name}`, evidence: [] }
    }
    const input = JSON.parse(inputJson) as JsonObject
    const said = answer(name, moment, input)
    if (said.kind === 'refuse') return said
    return {
      kind: 'pass',
      tool: found,
      args: input,
      input,
      inputJson,
      argumentsHash: sha256Hex(inputJson),
      evidence: [],
      ...said,
    }
  }
  return {
    check: async (ready: ReadyToolCall) => judge(ready.name, ready.argumentsText, 'check'),
    recheck: async (stored) => judge(stored.name, stored.inputJson, 'recheck'),
  }
}

export function call(name: string, ordinal = 0, input: JsonObject = {}, callId = `call_${ordinal}`): ReadyToolCall {
  return { callId, ordinal, name, argumentsText: JSON.stringify(input), parsedArguments: input }
}
