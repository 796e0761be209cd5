import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** Stands between a client and a database, and does what networks do. */
export interface Proxy {
  /** The database's address, through the proxy. */
  readonly address: string
  /** From now on nothing comes through, in neither direction, and no connection is closed. */
  stall(): void
  /** What comes later comes through again; what was held back is lost with its connection. */
  resume(): void
  /** Lets the next commit through to the database, and cuts the connection in the place of its answer. */
  cutAtCommit(): void
  close(): Promise<void>
}

export async function openProxy(address: string): Promise<Proxy> {
  const target = new URL(address)
  const sockets = new Set<Socket>()
  let stalled = false
  let cut = false
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname)
    let answersWanted = true
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        if (!stalled) for (const other of [client, database]) other.destroy()
      })
    }
    client.on('data', (bytes) => {
      if (stalled) return
      if (cut && bytes.includes('commit')) {
        cut = false
        answersWanted = false
      }
      database.write(bytes)
    })
    database.on('data', (bytes) => {
      if (stalled) return
      if (answersWanted) client.write(bytes)
      else client.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const through = new URL(address)
  through.hostname = '127.0.0.1'
  through.port = String((server.address() as AddressInfo).port)
  return {
    address: through.href,
    stall() {
      stalled = true
    },
    resume() {
      stalled = false
    },
    cutAtCommit() {
      cut = true
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
