import { randomUUID } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

export interface Connection {
  readonly client: Client
  close(): Promise<void>
}

/** Connects the official client to the server, over the real transport of that name. */
export async function connect(kind: 'stdio' | 'http', server: Server): Promise<Connection> {
  const client = new Client({ name: 'test', version: '1' })
  const listening = kind === 'stdio' ? await listenOnStdio(server) : await listenOnHttp(server)
  await client.connect(listening.transport)
  return {
    client,
    async close() {
      await client.close()
      await server.close()
      await listening.close()
    },
  }
}

interface Listening {
  readonly transport: StdioClientTransport | StreamableHTTPClientTransport
  close(): Promise<void>
}

async function listenOnStdio(server: Server): Promise<Listening> {
  const path =
    process.platform === 'win32' ? `\\\\.\\pipe\\${randomUUID()}` : join(tmpdir(), `mcp-${randomUUID()}.sock`)
  const listener = createSocketServer((socket) => void server.connect(new StdioServerTransport(socket, socket)))
  await new Promise<void>((resolve) => listener.listen(path, resolve))
  const bridge = fileURLToPath(new URL('stdio-bridge.js', import.meta.url))
  return {
    transport: new StdioClientTransport({ command: process.execPath, args: [bridge, path] }),
    close: () => new Promise((resolve) => listener.close(() => resolve())),
  }
}

async function listenOnHttp(server: Server): Promise<Listening> {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() })
  await server.connect(transport)
  const listener = createHttpServer((request, response) => void transport.handleRequest(request, response))
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as AddressInfo
  return {
    transport: new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)),
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve())
        listener.closeAllConnections()
      }),
  }
}
