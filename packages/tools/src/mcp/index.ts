/** Tools of an MCP server as tools of ours, and ours behind MCP. Needs `@modelcontextprotocol/sdk`. */
export { annotationsOf, effectOf } from './annotations.ts'
export type { ToolAnnotations } from './annotations.ts'
export { IDEMPOTENCY_KEY_META } from './idempotency-meta.ts'
export { mcpTools } from './mcp-tools.ts'
export type { McpClient, McpToolOverride, McpTools, McpToolsOptions } from './mcp-tools.ts'
export { serveTools } from './serve-tools.ts'
export type { ServedExecutor, ServeToolsOptions } from './serve-tools.ts'
