import { randomUUID } from 'node:crypto'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'
import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/sdk/types.js'
import type { JsonObject, ReadyToolCall } from 'streamfold'
import { clip } from 'streamfold/json'
import type { Tool } from '../define/tool.ts'
import type { BatchPlace, BatchResult, ToolBatch } from '../executor/executor-api.ts'
import { sha256Hex } from '../validate/sha256.ts'
import { annotationsOf } from './annotations.ts'
import { IDEMPOTENCY_KEY_META } from './idempotency-meta.ts'

/** What is served: `createExecutor` gives one. */
export interface ServedExecutor {
  readonly tools: readonly Tool[]
  run(batch: ToolBatch, place: BatchPlace): Promise<BatchResult>
}

export interface ServeToolsOptions {
  /** Begins the run ids under which the calls stand in the ledger. Default `mcp`. */
  readonly runIdPrefix?: string
}

/**
 * Offers an executor's tools to MCP clients, through a `Server` of `@modelcontextprotocol/sdk` that is not connected yet (of an
 * `McpServer` its `.server`). Every call goes through the gate and the ledger. A refusal is a result with `isError` that says why;
 * so is a call that waits for a person.
 *
 * The protocol has no idempotency key: a client that sends a call again really calls again, unless it puts the same
 * `streamfold/idempotency-key` into `_meta`. The arguments were parsed by the transport, so keys that came twice are seen no more.
 */
export function serveTools(server: Server, executor: ServedExecutor, options: ServeToolsOptions = {}): void {
  const { runIdPrefix = 'mcp' } = options
  const names = new Set(executor.tools.map(({ name }) => name))
  server.registerCapabilities({ tools: {} })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: executor.tools.map((tool) => listedTool(tool)) }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra): Promise<CallToolResult> => {
    if (!names.has(params.name)) {
      throw new McpError(ErrorCode.InvalidParams, `there is no tool ${JSON.stringify(clip(params.name, 80))}`)
    }
    // oxlint-disable-next-line no-underscore-dangle -- the protocol's own name
    const key: unknown = params._meta?.[IDEMPOTENCY_KEY_META]
    // Each call is a run of its own: calls of one session may overlap, and none makes another stale.
    const id = typeof key === 'string' && key !== '' ? sha256Hex(key) : randomUUID()
    const call = readyCall(params.name, id, params.arguments ?? {})
    const place = { runId: `${runIdPrefix}/${id}`, turn: 1, signal: extra.signal }
    const { results } = await executor.run({ choice: 0, calls: [call] }, place)
    const result = results[0]
    if (result === undefined) throw new McpError(ErrorCode.InternalError, 'the call has no result')
    return { content: [{ type: 'text', text: result.content }], isError: result.status !== 'succeeded' }
  })
}

function readyCall(name: string, callId: string, args: Record<string, unknown>): ReadyToolCall {
  const argumentsText = JSON.stringify(args)
  return { callId, ordinal: 0, name, argumentsText, parsedArguments: args as JsonObject }
}

function listedTool(tool: Tool): ListToolsResult['tools'][number] {
  const { name, description, inputSchema, effect } = tool
  return {
    name,
    description,
    inputSchema: { ...(structuredClone(inputSchema) as object), type: 'object' },
    annotations: { ...annotationsOf(effect) },
  }
}
