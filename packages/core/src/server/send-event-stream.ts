import { EVENT_STREAM_HEADERS } from './encode-event-stream.ts'

/** What is needed of a response of `node:http`; those of Express and others are one. */
export interface ServerResponseLike {
  writeHead(status: number, headers: Record<string, string>): unknown
  flushHeaders(): void
  write(bytes: Uint8Array): boolean
  end(): unknown
  destroy(error?: Error): unknown
  once(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
  readonly destroyed: boolean
}

/** The head of the answer. */
export interface SendOptions {
  /** Default 200. */
  readonly status?: number
  /** Beside {@link EVENT_STREAM_HEADERS}. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Sends an encoded stream as the answer of a `node:http` server. The head goes out at once. A client that reads slowly slows the
 * producer, and one that hangs up cancels the stream.
 *
 * @throws TypeError for arguments in the wrong place, before anything is sent
 * @throws what the stream errors with, after the connection was cut; those of `encodeEventStream` never do
 * @returns settles when everything was sent, or the client is gone: `sent` or `gone`
 */
export async function sendEventStream(
  response: ServerResponseLike,
  stream: ReadableStream<Uint8Array>,
  options: SendOptions = {},
): Promise<'sent' | 'gone'> {
  checkArguments(response, stream)
  const reader = stream.getReader()
  const client = { gone: response.destroyed, wake: (): void => {} }
  const onDrain = (): void => client.wake()
  const onClose = (): void => {
    client.gone = true
    client.wake()
    void reader.cancel().catch(() => {})
  }
  response.once('close', onClose)
  if (client.gone) onClose()
  else {
    response.writeHead(options.status ?? 200, { ...EVENT_STREAM_HEADERS, ...options.headers })
    response.flushHeaders()
  }
  try {
    while (!client.gone) {
      const { done, value } = await reader.read()
      if (done || client.gone) break
      if (response.write(value)) continue
      const drained = new Promise<void>((resolve) => (client.wake = resolve))
      response.once('drain', onDrain)
      if (!client.gone) await drained
      response.off('drain', onDrain)
    }
    if (client.gone) return 'gone'
    response.end()
    return 'sent'
  } catch (error) {
    // Not a stream of ours: they never error. The client must not take this for an end.
    response.destroy(error instanceof Error ? error : undefined)
    throw error
  } finally {
    response.off('close', onClose)
  }
}

function checkArguments(response: Partial<ServerResponseLike> | null, stream: Partial<ReadableStream> | null): void {
  if (typeof response?.writeHead !== 'function') {
    throw new TypeError('sendEventStream(response, stream): the first argument is the response of a node:http server')
  }
  if (typeof stream?.getReader !== 'function') {
    throw new TypeError(
      'sendEventStream(response, stream): the second argument is what encodeEventStream(chunks, api) gives',
    )
  }
}
