import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Recording } from 'streamfold/recording'
import type { ChangeCode } from '../../src/diff/change.ts'
import { diffRecordings } from '../../src/diff/diff-recordings.ts'
import { parseRecordings } from '../../src/file/recording-file.ts'
import { startRecordingProxy } from '../../src/record/recording-proxy.ts'
import { memorySink } from '../../src/record/recording-sink.ts'
import { cleanUp, upstream } from '../record/upstream.ts'

/** What a hop does to one read of the body; without a result it keeps it for the end. */
type Mangle = (read: string) => string | undefined

const event = (content: string): string =>
  `data: {"choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null}]}\n\n`
const READS = [
  ': ping\n\n',
  ...['a', 'b', 'c', 'd'].map(event),
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
]
/** Long enough to tell a stream from a body. */
const APART_MS = 90

async function hop(to: string, mangle: Mangle, cutAfter = Infinity): Promise<string> {
  const server = createServer((request, response) => {
    const onwards = httpRequest(
      to + request.url!,
      { method: request.method!, agent: false },
      (answer: IncomingMessage) => {
        response.writeHead(answer.statusCode!, { 'content-type': answer.headers['content-type'] })
        const kept: string[] = []
        let count = 0
        answer.setEncoding('utf8').on('data', (read: string) => {
          if (++count > cutAfter) return void response.end()
          const out = mangle(read)
          if (out === undefined) kept.push(read)
          else response.write(out)
        })
        answer.on('end', () => response.end(kept.join('')))
      },
    )
    request.pipe(onwards)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUp(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Records on both sides of a hop: upstream ◀ recorder ◀ hop ◀ recorder ◀ client. */
async function bothSides(mangle: Mangle, cutAfter?: number): Promise<readonly [entry: Recording, upstream: Recording]> {
  const source = await upstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const next = (at: number): void => {
      const read = READS[at]
      if (read === undefined) return void response.end()
      response.write(read)
      setTimeout(() => next(at + 1), APART_MS)
    }
    next(0)
  })
  const sinks = [memorySink(), memorySink()] as const
  const inner = await startRecordingProxy({ to: source, by: 'upstream side', sink: () => sinks[1] })
  const outer = await startRecordingProxy({
    to: await hop(inner.url, mangle, cutAfter),
    by: 'entry side',
    sink: () => sinks[0],
  })
  const response = await fetch(`${outer.url}/v1/chat/completions`, { method: 'POST', body: '{}' })
  await response.text()
  await outer.close()
  await inner.close()
  const [entry, before] = sinks.map((sink) => parseRecordings(Buffer.from(sink.text()))[0]!)
  return [entry!, before!]
}

describe('recorded on both sides of a hop', () => {
  test.each<{ name: string; mangle: Mangle; changes: readonly ChangeCode[]; sameMeaning: boolean; cutAfter?: number }>([
    { name: 'nothing is done', mangle: (read) => read, changes: [], sameMeaning: true },
    {
      name: 'line ends are rewritten, comments dropped',
      mangle: (read) => (read.startsWith(':') ? '' : read.replaceAll('\n', '\r\n')),
      changes: ['line_ends_rewritten', 'comments_dropped'],
      sameMeaning: true,
    },
    {
      name: 'an event is injected',
      mangle: (read) => (read.includes('"b"') ? `${event('!')}${read}` : read),
      changes: ['events_injected'],
      sameMeaning: true,
    },
    { name: 'the stream is cut', mangle: (read) => read, cutAfter: 3, changes: ['truncated'], sameMeaning: false },
  ])('$name', async ({ mangle, changes, sameMeaning, cutAfter }) => {
    const diff = diffRecordings(...(await bothSides(mangle, cutAfter)))
    expect(diff.changes.map(({ code }) => code)).toEqual(expect.arrayContaining([...changes]))
    expect(diff.changes.filter(({ code }) => code !== 'end_changed').map(({ code }) => code)).toEqual(changes)
    expect(diff.sameMeaning).toBe(sameMeaning)
  })

  test('a hop that keeps all for the end changes no byte', async () => {
    const diff = diffRecordings(...(await bothSides(() => undefined)))
    expect(diff.same).toBe(true)
    expect(diff.timing!.verdict).toBe('buffered_until_end')
  })
})
