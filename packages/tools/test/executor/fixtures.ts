import { beforeAll, onTestFinished } from 'vitest'
import type { JsonObject, ReadyToolCall } from 'streamfold'
import type { Tool, ToolContext } from '../../src/define/tool.ts'
import { createGatedExecutor } from '../../src/executor/index.ts'
import type { BatchResult, Executor, ExecutorOptions } from '../../src/executor/index.ts'
import type { Gate, GatePass, GateVerdict } from '../../src/gate.ts'
import { openLedger } from '../../src/ledger/ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { sha256Hex } from '../../src/validate/sha256.ts'
import { newTenant } from '../ledger/requests.ts'
import { describeEachEngine } from '../store/engines.ts'

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

export const place = { runId: 'run', turn: 1 }

export const brief = ({ state, results }: BatchResult): readonly string[] => [
  state,
  ...results.map(
    ({ callId, status, code, content }) => `${callId} ${status}${code === undefined ? '' : ` ${code}`}: ${content}`,
  ),
]

/** A promise that is settled from outside. */
export function gatePost<T>(): { readonly promise: Promise<T>; readonly open: (value: T) => void } {
  let open!: (value: T) => void
  const promise = new Promise<T>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

/** A tool that says when it was entered, and stays in there until it is told what to give. */
export function heldUp(
  name: string,
  options: Partial<ToolOptions> = {},
): { readonly tool: Tool; readonly entered: Promise<void>; readonly finish: (result: string) => void } {
  const entered = gatePost<void>()
  const finish = gatePost<string>()
  const execute = (): Promise<string> => {
    entered.open()
    return finish.promise
  }
  return { tool: tool(name, { ...options, execute }), entered: entered.promise, finish: finish.open }
}

/** A tool that counts how often it was entered, and by whom. */
export function counting(
  name: string,
  options: Partial<Tool> = {},
): { readonly tool: Tool; readonly seen: ToolContext[] } {
  const seen: ToolContext[] = []
  const { execute = () => 'done' } = options
  const counted = tool(name, {
    ...options,
    execute: (args, context) => {
      seen.push(context)
      return execute(args, context)
    },
  })
  return { tool: counted, seen }
}

export const boom = (): never => {
  throw new Error('boom')
}

/** Executors on one ledger, whose time stands still until it is moved. */
export interface Bench {
  /** To be asked for inside of a test: it is opened before the first one. */
  readonly ledger: () => Ledger
  readonly advance: (ms: number) => Promise<void>
  /** Closed when its test is over. Each is of a tenant of its own, unless the options say otherwise. */
  readonly executorOf: (tools: readonly Tool[], options?: Partial<ExecutorOptions>) => Executor
  /** A worker that dies after it has claimed: its tool never comes back, and nobody renews its lease, which is over by now. */
  readonly dead: (tenant: string, effect: Tool['effect']) => Promise<void>
  /** Lets the leases of all that runs end. */
  readonly expire: () => Promise<void>
}

/** Runs the same tests of executors on both databases. */
export function describeExecutor(title: string, tests: (bench: Bench) => void): void {
  describeEachEngine(title, (engine) => {
    let ledger: Ledger
    let advance: (ms: number) => Promise<void>
    beforeAll(async () => {
      const opened = await engine.openWithClock()
      advance = (ms) => opened.advance(ms)
      ledger = await openLedger(opened.store)
    })

    function executorOf(tools: readonly Tool[], options: Partial<ExecutorOptions> = {}): Executor {
      const executor = createGatedExecutor({
        gate: gateOf(tools),
        tools: tools.map(({ name }) => name),
        ledger,
        tenant: newTenant(),
        recoverEveryMs: 0,
        waitMs: 0,
        abortGraceMs: 0,
        ...options,
      })
      onTestFinished(() => executor.close())
      return executor
    }

    const expire = (): Promise<void> => advance(31_000)

    async function dead(tenant: string, effect: Tool['effect']): Promise<void> {
      const post = gatePost<void>()
      const zombie = executorOf(
        [
          tool('t', {
            effect,
            execute: () => {
              post.open()
              return new Promise(() => {})
            },
          }),
        ],
        {
          tenant,
          // Its heart beats against a ledger that is not there any more.
          ledger: { ...ledger, heartbeat: () => new Promise(() => {}), finish: () => new Promise(() => {}) },
        },
      )
      zombie.close = async () => {}
      void zombie.run({ choice: 0, calls: [call('t')] }, place)
      await post.promise
      await expire()
    }

    tests({ ledger: () => ledger, advance: (ms) => advance(ms), executorOf, dead, expire })
  })
}
