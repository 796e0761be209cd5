import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ListenAddress {
  /** Default 0: any free port. */
  readonly port?: number
  /** Default 127.0.0.1: other machines can't reach it. */
  readonly host?: string
}

/** Gives the address under which the server is reached, `http://127.0.0.1:PORT`; rejects with `EADDRINUSE` and the like. */
export async function listen(server: Server, { port = 0, host = '127.0.0.1' }: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { address, family, port: bound } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
}
