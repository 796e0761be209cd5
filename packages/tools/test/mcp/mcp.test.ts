import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'
import type { CallToolRequest, CallToolResult, ListToolsResult } from '@modelcontextprotocol/sdk/types.js'
import type { ReadyToolCall } from 'streamfold'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { defineTool } from '../../src/define/define-tool.ts'
import type { Tool } from '../../src/define/tool.ts'
import { createExecutor } from '../../src/executor/create-executor.ts'
import type { ToolExecutor } from '../../src/executor/create-executor.ts'
import type { ToolResult } from '../../src/executor/tool-result.ts'
import { openLedger } from '../../src/ledger/ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { effectOf } from '../../src/mcp/annotations.ts'
import { IDEMPOTENCY_KEY_META, mcpTools, serveTools } from '../../src/mcp/index.ts'
import type { McpClient } from '../../src/mcp/index.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { connect } from './transports.ts'
import type { Connection } from './transports.ts'

const folder = mkdtempSync(join(tmpdir(), 'mcp-test-'))
let store: Store
let ledger: Ledger
let connection: Connection | undefined
let runs = 0
const executors: ToolExecutor[] = []

beforeAll(async () => {
  store = await openStore(join(folder, 'ledger.db'))
  ledger = await openLedger(store)
})
afterEach(async () => {
  await connection?.close()
  connection = undefined
  for (const executor of executors.splice(0)) await executor.close()
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

function executorOf(tools: readonly Tool[]): ToolExecutor {
  const executor = createExecutor({
    tools,
    policy: { revision: 'p', rules: [{ tools: '*', decision: 'allow' }] },
    ledger,
    tenant: 'acme',
    recoverEveryMs: 0,
  })
  executors.push(executor)
  return executor
}

const OBJECT = { type: 'object' as const }
const NAMED = { ...OBJECT, properties: { name: { type: 'string' as const } }, required: ['name' as const] }
const LISTED: ListToolsResult['tools'] = [
  { name: 'look', description: 'Looks.', inputSchema: NAMED, annotations: { readOnlyHint: true } },
  { name: 'put', inputSchema: NAMED, annotations: { idempotentHint: true } },
  { name: 'bad.name', inputSchema: OBJECT },
  { name: 'evil', inputSchema: { ...OBJECT, properties: { a: { type: 'string', pattern: '(?=x)' } } } },
  // Last: the client knows the output schemas of the last page only.
  { name: 'send', inputSchema: NAMED, outputSchema: { ...OBJECT, properties: { id: { type: 'string' } } } },
]

/** A server of the official SDK, two tools to a page. */
function foreignServer(answer: (params: CallToolRequest['params']) => CallToolResult): Server {
  const server = new Server({ name: 'foreign', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const from = Number(params?.cursor ?? 0)
    const rest = from + 2 < LISTED.length ? { nextCursor: String(from + 2) } : {}
    return { tools: LISTED.slice(from, from + 2), ...rest }
  })
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => answer(params))
  return server
}

describe.each(['stdio', 'http'] as const)('tools of a server, over %s', (kind) => {
  let asked: CallToolRequest['params'][] = []
  let answer: (params: CallToolRequest['params']) => CallToolResult
  let tools: readonly Tool[]

  beforeEach(async () => {
    asked = []
    answer = () => ({ content: [{ type: 'text', text: 'seen' }] })
    connection = await connect(
      kind,
      foreignServer((params) => {
        asked.push(params)
        return answer(params)
      }),
    )
    const override = {
      put: { effect: 'idempotent' as const },
      send: { effect: 'unsafe' as const, approve: 'never' as const },
    }
    tools = (await mcpTools(connection.client, { trustAnnotations: true, tools: override })).tools
  })

  async function call(name: string, argumentsText: string): Promise<ToolResult> {
    const ready: ReadyToolCall = { callId: 'c', ordinal: 0, name, argumentsText, parsedArguments: {} }
    const { results } = await executorOf(tools).run(
      { choice: 0, calls: [ready] },
      { runId: `${kind}_${++runs}`, turn: 1 },
    )
    return results[0] as ToolResult
  }

  test('all pages are read; what can’t be offered is named', async () => {
    expect(tools.map(({ name, effect }) => [name, effect])).toEqual([
      ['look', 'read'],
      ['put', 'idempotent'],
      ['send', 'unsafe'],
    ])
    const { refused } = await mcpTools(connection?.client as McpClient)
    expect(refused).toMatchObject([
      { name: 'bad.name' },
      { name: 'evil', reason: expect.stringContaining('linear time') },
    ])
  })

  test('a call goes through the gate and the ledger to the server, with its idempotency key', async () => {
    expect(await call('look', '{"name":"x"}')).toMatchObject({ status: 'succeeded', content: '"seen"' })
    expect(asked).toMatchObject([
      {
        name: 'look',
        arguments: { name: 'x' },
        _meta: { [IDEMPOTENCY_KEY_META]: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ])
  })

  test('what does not fit never reaches the server', async () => {
    expect(await call('look', '{"name":5}')).toMatchObject({ status: 'refused', code: 'schema_violation' })
    expect(await call('look', '{"name":"x","name":"y"}')).toMatchObject({ status: 'refused', code: 'arguments_unsafe' })
    expect(asked).toEqual([])
  })

  test('an error that the tool reports is what came of the call, also of an unsafe one', async () => {
    answer = () => ({ content: [{ type: 'text', text: 'no such mailbox' }], isError: true })
    expect(await call('send', '{"name":"x"}')).toMatchObject({
      status: 'succeeded',
      content: '{"error":"no such mailbox"}',
    })
  })

  test.each(['MethodNotFound', 'InvalidParams', 'InternalError', 'UrlElicitationRequired'] as const)(
    '%s may come from inside of the tool: what changes things is unknown, what reads has failed',
    async (name) => {
      answer = () => {
        throw new McpError(ErrorCode[name], 'no')
      }
      expect(await call('send', '{"name":"x"}')).toMatchObject({ status: 'unknown', code: 'outcome_unknown' })
      expect(await call('look', '{"name":"x"}')).toMatchObject({ status: 'failed', code: 'execution_failed' })
    },
  )

  test('a result that the client does not take, for it does not fit: the tool has run', async () => {
    answer = () => ({ content: [], structuredContent: { id: 5 } })
    expect(await call('send', '{"name":"x"}')).toMatchObject({ status: 'unknown', code: 'outcome_unknown' })
    expect(asked.length).toBe(1)
  })

  test('not connected any more: nothing was sent, so it has failed, also what changes things', async () => {
    const client = connection!.client
    await client.close()
    const result = await call('send', '{"name":"x"}')
    expect(result).toMatchObject({ status: 'failed', code: 'execution_failed' })
    expect(result.content).toContain('not connected')
    expect(asked).toEqual([])
  })

  test('not connected any more, for the server has gone: the same once the client knows', async () => {
    const { client } = connection!
    const gone = new Promise<void>((resolve) => Object.assign(client, { onclose: resolve }))
    const { transport } = client
    if (transport instanceof StdioClientTransport) process.kill(transport.pid!)
    else await transport!.close()
    await gone
    expect(await call('send', '{"name":"x"}')).toMatchObject({ status: 'failed', code: 'execution_failed' })
    expect(asked).toEqual([])
  })

  test('a connection that breaks while the call is under way leaves it open', async () => {
    const { client } = connection!
    answer = () => {
      void client.close()
      return { content: [] }
    }
    expect(await call('send', '{"name":"x"}')).toMatchObject({ status: 'unknown', code: 'outcome_unknown' })
    expect(asked).toHaveLength(1)
  })

  test('structured content is preferred; parts that are no text stay parts', async () => {
    answer = () => ({ content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } })
    expect(await call('look', '{"name":"x"}')).toMatchObject({ content: '{"n":1}' })
    answer = () => ({ content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] })
    expect(await call('look', '{"name":"x"}')).toMatchObject({
      content: '[{"type":"image","data":"aGk=","mimeType":"image/png"}]',
    })
  })
})

const clientOf = (tools: ListToolsResult['tools'], more: Partial<McpClient> = {}): McpClient => ({
  listTools: async () => ({ tools }),
  callTool: async () => ({}),
  ...more,
})

test('a client that does not say whether it is connected: what it throws leaves it open', async () => {
  const client = clientOf(LISTED.slice(-1), {
    callTool: async () => {
      throw new Error('Not connected')
    },
  })
  const { tools } = await mcpTools(client, { tools: { send: { effect: 'unsafe', approve: 'never' } } })
  const ready = { callId: 'c', ordinal: 0, name: 'send', argumentsText: '{"name":"x"}', parsedArguments: {} }
  const { results } = await executorOf(tools).run({ choice: 0, calls: [ready] }, { runId: 'says_nothing', turn: 1 })
  expect(results[0]).toMatchObject({ status: 'unknown', code: 'outcome_unknown' })
})

describe('what a server says of itself', () => {
  test.each([
    [undefined, 'unsafe'],
    [{}, 'unsafe'],
    [{ readOnlyHint: true }, 'read'],
    [{ idempotentHint: true }, 'idempotent'],
    [{ readOnlyHint: false, idempotentHint: true, destructiveHint: false }, 'idempotent'],
    [{ destructiveHint: false }, 'unsafe'],
  ] as const)('%j claims %s', (annotations, effect) => {
    expect(effectOf(annotations)).toBe(effect)
  })

  test('loosens nothing: without a word from the operator every call needs approval', async () => {
    const { tools } = await mcpTools(clientOf(LISTED))
    expect(tools.map(({ approve }) => approve)).toEqual(['always', 'always', 'always'])
    const declared = await mcpTools(clientOf(LISTED), {
      tools: { look: { effect: 'read' }, put: { approve: 'never' } },
    })
    expect(declared.tools.map(({ approve }) => approve)).toEqual([undefined, 'never', 'always'])
    const trusted = await mcpTools(clientOf(LISTED), { trustAnnotations: true })
    expect(trusted.tools.map(({ approve }) => approve)).toEqual([undefined, undefined, undefined])
  })

  test('names get a prefix, and a name that comes twice is refused', async () => {
    const { tools, refused } = await mcpTools(clientOf([...LISTED.slice(0, 1), ...LISTED.slice(0, 1)]), {
      prefix: 'files_',
    })
    expect(tools.map(({ name }) => name)).toEqual(['files_look'])
    expect(refused).toMatchObject([{ name: 'look', reason: expect.stringContaining('another tool') }])
  })

  test('a name finds only what the operator wrote', async () => {
    const { tools } = await mcpTools(clientOf([{ name: 'constructor', inputSchema: OBJECT }]), { tools: {} })
    expect(tools).toMatchObject([{ name: 'constructor', approve: 'always', effect: 'unsafe' }])
  })

  test('too many tools, and a list without end, are errors', async () => {
    await expect(mcpTools(clientOf(LISTED), { maxTools: 4 })).rejects.toThrow(RangeError)
    const endless = clientOf([], { listTools: async () => ({ tools: [], nextCursor: 'more' }) })
    await expect(mcpTools(endless)).rejects.toThrow(/does not end/)
  })
})

async function ask(params: CallToolRequest['params']): Promise<CallToolResult> {
  return (await connection?.client.callTool(params)) as CallToolResult
}

describe.each(['stdio', 'http'] as const)('an executor behind MCP, over %s', (kind) => {
  let done: string[] = []
  const note = defineTool({
    name: 'note',
    description: 'Writes a note.',
    effect: 'unsafe',
    approve: 'never',
    parameters: NAMED,
    execute: ({ name }) => {
      done.push(name)
      return { written: name }
    },
  })
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    effect: 'unsafe',
    parameters: OBJECT,
    execute: () => 'paid',
  })

  beforeEach(async () => {
    done = []
    const server = new Server({ name: 'ours', version: '1' })
    serveTools(server, executorOf([note, pay]))
    connection = await connect(kind, server)
  })

  test('lists its tools with their schemas and hints', async () => {
    expect((await connection?.client.listTools())?.tools).toEqual([
      {
        name: 'note',
        description: 'Writes a note.',
        inputSchema: NAMED,
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
      },
      expect.objectContaining({ name: 'pay' }),
    ])
  })

  test('runs a call through gate and ledger', async () => {
    expect(await ask({ name: 'note', arguments: { name: 'x' } })).toMatchObject({
      content: [{ type: 'text', text: '{"written":"x"}' }],
      isError: false,
    })
    expect(done).toEqual(['x'])
    const [row] = await ledger.list('acme', { limit: 1 })
    expect(row).toMatchObject({ tool: 'note', state: 'succeeded', runId: expect.stringMatching(/^mcp\//) })
  })

  test('refusals, and calls that wait for a person, are results that say so', async () => {
    expect(await ask({ name: 'note', arguments: { name: 1 } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('/name: expected string') }],
    })
    expect(await ask({ name: 'pay' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Waits for a person') }],
    })
    expect(done).toEqual([])
  })

  test('a tool that is not there is an error of the protocol', async () => {
    await expect(ask({ name: 'constructor' })).rejects.toThrow(/no tool "constructor"/)
  })

  test('the same idempotency key is the same call; other arguments under it are a conflict', async () => {
    const keyed = { name: 'note', arguments: { name: `k-${kind}` }, _meta: { [IDEMPOTENCY_KEY_META]: `key-${kind}` } }
    const first = await ask(keyed)
    expect(await ask(keyed)).toEqual(first)
    expect(done).toEqual([`k-${kind}`])
    expect(await ask({ ...keyed, arguments: { name: 'other' } })).toMatchObject({ isError: true })
    expect(done).toEqual([`k-${kind}`])
  })

  test('calls of one session overlap, and none makes another stale', async () => {
    const names = Array.from({ length: 10 }, (_, at) => `n${at}`)
    const results = await Promise.all(names.map((name) => ask({ name: 'note', arguments: { name } })))
    expect(results.every((result) => result.isError === false)).toBe(true)
    expect(done.toSorted()).toEqual(names.toSorted())
  })
})
