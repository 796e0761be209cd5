import { once } from 'node:events'
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { HeaderPair } from 'streamfold/recording'
import { headOf } from './default-head.ts'
import { bodyOf } from './replay-script.ts'
import type { ReplayScript, ScriptWrite } from './replay-script.ts'

export interface SendOptions {
  /** `performance.now()` of the request, from which the script's times count. */
  readonly startedAt: number
  /** A client of HTTP/1.0 knows no chunks: the connection's end is the body's end. */
  readonly http10: boolean
  /** Further headers, after the recorded ones. */
  readonly headers: readonly HeaderPair[]
}

/**
 * Sends a script over a socket byte by byte as it stands: one HTTP chunk per write, and an end that node:http would not let happen.
 * Resolves when it has ended or the client is gone; for a script that stays open, when the client is gone.
 */
export async function sendScript(socket: Socket, script: ReplayScript, options: SendOptions): Promise<void> {
  const head = headOf(script)
  const bodiless = head.status === 204 || head.status === 304
  const framing = options.http10 && script.wire.framing === 'chunked' ? 'close' : script.wire.framing
  const coded = script.wire.coding === 'gzip' ? gzipped(script) : script.writes
  // A length was announced for the plain body; once it is compressed, it is another one.
  const announced = typeof framing === 'number' && script.wire.coding === 'gzip' ? 'close' : framing
  const abort = new AbortController()
  socket.once('close', () => abort.abort())
  socket.on('error', () => abort.abort())
  socket.setNoDelay(true)
  try {
    await waitUntil(options.startedAt, head.atUs, abort.signal)
    const headers: HeaderPair[] = [
      ...head.headers,
      ['date', new Date().toUTCString()],
      ...(script.wire.coding === undefined ? [] : [['content-encoding', script.wire.coding] as const]),
      ...options.headers,
      ...framingHeaders(bodiless ? 'close' : announced),
    ]
    await put(socket, Buffer.from(headText(head.status, headers), 'latin1'), abort.signal)
    for (const { atUs, bytes } of bodiless ? [] : coded) {
      await waitUntil(options.startedAt, atUs, abort.signal)
      // As a chunk, no bytes are the end of the body.
      if (bytes.length === 0) continue
      await put(socket, announced === 'chunked' ? chunk(bytes) : bytes, abort.signal)
    }
    await waitUntil(options.startedAt, script.end.atUs, abort.signal)
    await finish(socket, script, announced === 'chunked' && !bodiless, abort.signal)
  } catch (error) {
    if (!abort.signal.aborted) throw error
  }
}

async function finish(socket: Socket, { end }: ReplayScript, chunked: boolean, signal: AbortSignal): Promise<void> {
  switch (end.kind) {
    case 'complete':
      if (chunked) await put(socket, Buffer.from('0\r\n\r\n'), signal)
      socket.end()
      return
    case 'cut':
    case 'aborted':
      socket.end()
      return
    case 'reset':
    case 'error':
      // What was written has to be out first: a reset throws away what the socket still holds.
      await nextTurn(undefined, { signal })
      socket.resetAndDestroy()
      return
    case 'open':
    case 'timeout':
      await once(socket, 'close', { signal })
  }
}

async function put(socket: Socket, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  if (!socket.write(bytes)) await once(socket, 'drain', { signal })
  // Two writes in one turn would share a segment, and then a read.
  await nextTurn(undefined, { signal })
}

async function waitUntil(startedAt: number, atUs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const ms = startedAt + atUs / 1000 - performance.now()
  if (ms >= 1) await pause(ms, undefined, { signal })
}

function gzipped(script: ReplayScript): readonly ScriptWrite[] {
  return [{ atUs: script.end.atUs, bytes: gzipSync(bodyOf(script)) }]
}

function chunk(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

function framingHeaders(framing: 'chunked' | 'close' | number): readonly HeaderPair[] {
  const close: HeaderPair = ['connection', 'close']
  if (framing === 'close') return [close]
  return [framing === 'chunked' ? ['transfer-encoding', 'chunked'] : ['content-length', String(framing)], close]
}

function headText(status: number, headers: readonly HeaderPair[]): string {
  const lines = headers.filter(isSendable).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${lines.join('')}\r\n`
}

/** A recording may hold any text as a header; a line end in one would be a second header. */
function isSendable([name, value]: HeaderPair): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}
