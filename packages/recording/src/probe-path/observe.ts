import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { errorCode } from '../error-code.ts'
import { createContentDecoder } from '../record/content-decoder.ts'

/** What came out of the path. */
export interface PathObservation {
  readonly requestedMs: number
  readonly status: number | undefined
  readonly headMs: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** The body, decoded. */
  readonly body: Uint8Array
  /** Reads of the decoded body: how far it had come, and when (`performance.now()`). */
  readonly reads: readonly { readonly to: number; readonly atMs: number }[]
  /** Network reads, before the content coding is taken off. */
  readonly networkReads: number
  readonly end: 'complete' | 'cut' | 'timeout' | 'failed'
  readonly endMs: number
  /** What the network said where it failed. */
  readonly failure?: string
}

export interface ObserveOptions {
  readonly url: URL
  /** Silence after which nothing is expected any more, in milliseconds. */
  readonly patienceMs: number
  readonly signal?: AbortSignal
}

/** Asks the path for the stream and writes down what arrives, and when. */
export async function observe({ url, patienceMs, signal }: ObserveOptions): Promise<PathObservation> {
  const requestedMs = performance.now()
  const pieces: Uint8Array[] = []
  const reads: { to: number; atMs: number }[] = []
  let length = 0
  let networkReads = 0
  let status: number | undefined
  let headMs: number | undefined
  let headers: Record<string, string> = {}
  const take = (bytes: Uint8Array, atMs: number): void => {
    pieces.push(bytes)
    length += bytes.length
    reads.push({ to: length, atMs })
  }
  const { end, failure } = await new Promise<{ end: PathObservation['end']; failure?: string }>((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = send(url, {
      agent: false,
      headers: { accept: 'text/event-stream', 'accept-encoding': 'gzip, deflate, br', 'cache-control': 'no-cache' },
      ...(signal !== undefined && { signal }),
    })
    const finish = (how: PathObservation['end'], why?: string): void => {
      clearTimeout(timer)
      request.destroy()
      resolve({ end: how, ...(why !== undefined && { failure: why }) })
    }
    const waitLonger = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => finish('timeout'), patienceMs)
    }
    waitLonger()
    request.on('error', (error) => finish(status === undefined ? 'failed' : 'cut', reasonOf(error)))
    request.on('response', (response) => {
      waitLonger()
      status = response.statusCode
      headMs = performance.now()
      headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)]))
      const decoder = createContentDecoder(headers['content-encoding'], {
        read: take,
        failed: (reason) => finish('cut', reason),
      })
      response.on('data', (bytes: Uint8Array) => {
        waitLonger()
        networkReads++
        // What can't be decoded is kept as it came.
        if (decoder === undefined) take(bytes, performance.now())
        else decoder.push(bytes, performance.now())
      })
      response.on('end', () => {
        const how = response.complete ? 'complete' : 'cut'
        if (decoder === undefined) finish(how)
        else decoder.end(() => finish(how))
      })
      response.on('error', (error) => finish('cut', reasonOf(error)))
    })
    request.end()
  })
  signal?.throwIfAborted()
  return {
    requestedMs,
    status,
    headMs,
    headers,
    body: Buffer.concat(pieces),
    reads,
    networkReads,
    end,
    endMs: performance.now(),
    ...(failure !== undefined && { failure }),
  }
}

function reasonOf(error: Error): string {
  return errorCode(error) ?? error.message
}
