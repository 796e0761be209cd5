import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach } from 'vitest'
import type { Recording } from 'streamfold/recording'
import { parseRecordings } from '../../src/file/recording-file.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

export function cleanUp(close: () => void): void {
  closers.push(close)
}

/** An HTTP server of one handler, closed after the test. */
export async function upstream(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that writes what it wants, once the head of a request is there. */
export async function rawUpstream(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    let head = ''
    socket.on('data', (bytes) => {
      head += bytes.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      head = ''
      answer(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A folder that is gone after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'streamfold-record-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function recordingsIn(folder: string): readonly Recording[] {
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => parseRecordings(readFileSync(join(folder, name))))
}

export function bodyOf(recording: Recording): string {
  return Buffer.concat(recording.reads.map(({ bytes }) => bytes)).toString()
}
