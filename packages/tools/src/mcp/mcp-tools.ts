import type { JsonObject, JsonValue } from 'streamfold'
import { clip } from 'streamfold/json'
import { defineTool } from '../define/define-tool.ts'
import type { ToolDefinition } from '../define/define-tool.ts'
import type { JsonSchema } from '../define/json-schema.ts'
import type { Effect, Tool, ToolContext } from '../define/tool.ts'
import { NoEffectError } from '../executor/no-effect-error.ts'
import { LONGEST_TIMER_MS } from '../longest-timer.ts'
import { messageOf } from '../thrown.ts'
import { effectOf } from './annotations.ts'
import type { ToolAnnotations } from './annotations.ts'
import { IDEMPOTENCY_KEY_META } from './idempotency-meta.ts'

/** What is used of an MCP client; `Client` of `@modelcontextprotocol/sdk` is one. It must be connected. */
export interface McpClient {
  listTools(params?: { cursor?: string }): Promise<{
    tools: readonly {
      name: string
      description?: string | undefined
      inputSchema: object
      annotations?: ToolAnnotations | undefined
    }[]
    nextCursor?: string | undefined
  }>
  callTool(
    params: { name: string; arguments?: Record<string, unknown>; _meta?: Record<string, unknown> },
    resultSchema?: undefined,
    options?: { signal?: AbortSignal; timeout?: number },
  ): Promise<object>
  /** What it is connected over; undefined while it is not connected. A client without this field says nothing of that. */
  readonly transport?: object | undefined
}

/** What the operator says about one tool of a server; it wins over whatever the server says. */
export type McpToolOverride = Pick<
  ToolDefinition<JsonSchema, unknown>,
  'approve' | 'operationId' | 'resources' | 'authorize' | 'redact' | 'timeoutMs' | 'maxArgumentBytes' | 'description'
> & {
  readonly effect?: Exclude<Effect, 'queryable'>
}

export interface McpToolsOptions {
  /** Put before each name, so that tools of several servers do not meet. Default none. */
  readonly prefix?: string
  /** By the server's own name of the tool. */
  readonly tools?: Readonly<Record<string, Partial<McpToolOverride>>>
  /**
   * Believe the hints of this server. Default false: they set the effect, but calls of a tool whose effect nobody here has
   * declared need a person's approval.
   */
  readonly trustAnnotations?: boolean
  /** Tools beyond this many are an error: each is shown to the model. Default 128. */
  readonly maxTools?: number
}

export interface McpTools {
  readonly tools: readonly Tool[]
  /** Tools that can't be offered, mostly for their schema, and why. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[]
}

const MAX_PAGES = 100
const DEFAULT_MAX_TOOLS = 128

/**
 * The tools of an MCP server as tools of ours: checked, authorised, recorded and run once like any other. Their definitions are
 * those of this moment; what a server changes later does not count until it is asked again. Names, descriptions and results are the
 * server's words, and reach the model: connect only to servers that may speak to it.
 *
 * @throws RangeError when the server has more than `maxTools`, or its list does not end; and what the client throws
 */
export async function mcpTools(client: McpClient, options: McpToolsOptions = {}): Promise<McpTools> {
  const tools: Tool[] = []
  const refused: { name: string; reason: string }[] = []
  for (const listed of await allTools(client, options.maxTools ?? DEFAULT_MAX_TOOLS)) {
    const override = overrideFor(options, listed.name)
    try {
      const tool = defineTool<JsonSchema, JsonValue>({
        ...override,
        ...approvalOf(options, override),
        name: `${options.prefix ?? ''}${listed.name}`,
        description: override.description ?? describe(listed.description, listed.name),
        parameters: listed.inputSchema as JsonSchema,
        effect: override.effect ?? effectOf(listed.annotations),
        execute: (args, context) => callTool(client, listed.name, args, context),
      })
      if (tools.some(({ name }) => name === tool.name)) throw new TypeError('another tool of the server has this name')
      tools.push(tool)
    } catch (error) {
      refused.push({ name: clip(listed.name, 200), reason: clip(messageOf(error), 500) })
    }
  }
  return { tools, refused }
}

async function allTools(
  client: McpClient,
  maxTools: number,
): Promise<Awaited<ReturnType<McpClient['listTools']>>['tools']> {
  const all = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor })
    all.push(...tools)
    if (all.length > maxTools)
      throw new RangeError(`the server has more than ${maxTools} tools; raise maxTools if that is right`)
    if (nextCursor === undefined) return all
    cursor = nextCursor
  }
  throw new RangeError(`the server's list of tools does not end after ${MAX_PAGES} pages`)
}

/** Names come from the server: only own members count. */
function overrideFor(options: McpToolsOptions, name: string): Partial<McpToolOverride> {
  const { tools } = options
  return tools !== undefined && Object.hasOwn(tools, name) ? (tools[name] ?? {}) : {}
}

function approvalOf(options: McpToolsOptions, override: Partial<McpToolOverride>): Pick<McpToolOverride, 'approve'> {
  if (override.approve !== undefined || override.effect !== undefined || options.trustAnnotations === true) return {}
  return { approve: 'always' }
}

/**
 * A client that is not connected has sent nothing: that is known before it is asked, and the call has had no effect. Any error that it
 * gives itself leaves that open; a connection that is refused, for example, may be that of a server that it was redirected to.
 *
 * An error answer is thrown on as it is: no code of it proves that the tool was not entered. Servers pass on the codes that their
 * tools throw, and the official client gives -32602 (invalid params) also for a result that does not fit the tool's output schema.
 */
async function callTool(client: McpClient, name: string, args: JsonObject, context: ToolContext): Promise<JsonValue> {
  if ('transport' in client && client.transport === undefined) {
    throw new NoEffectError('the MCP client is not connected to its server; nothing was sent')
  }
  const params = { name, arguments: { ...args }, _meta: { [IDEMPOTENCY_KEY_META]: context.idempotencyKey } }
  // The executor keeps the time.
  const options = { signal: context.signal, timeout: LONGEST_TIMER_MS }
  return resultOf(await client.callTool(params, undefined, options))
}

/**
 * What the model gets: the structured content where there is any, the text where there is only text, else the parts as they
 * are. An error that the tool reports is an answer like any other: it is known what came of the call, and the model can read it.
 */
function resultOf({
  content = [],
  structuredContent,
  isError,
}: {
  content?: readonly JsonObject[]
  structuredContent?: JsonObject
  isError?: boolean
}): JsonValue {
  const onlyText = content.every((part) => part['type'] === 'text' && typeof part['text'] === 'string')
  const plain = structuredContent ?? (onlyText ? content.map((part) => part['text'] as string).join('\n') : content)
  return isError === true ? { error: plain } : plain
}

function describe(description: string | undefined, name: string): string {
  return description === undefined || description.trim() === ''
    ? `The tool ${clip(name, 80)} of an MCP server.`
    : description
}
