import { createParser } from 'eventsource-parser'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { Stream } from 'openai/streaming'
import { parseEventStream } from '../../packages/core/dist/client/index.js'
import { createEventStreamParser } from '../../packages/core/dist/sse/index.js'
import { makeWire } from '../wires/make.js'

const MIB = 1024 * 1024
const SLOW_TOTAL = 100 * MIB

/** T11 beside the peers: a stream read slowly, a pause of 1 ms every 2000 events; what is held, and how far the source runs ahead. */
export async function measureSlowReaders() {
  const rows = []
  for (const [name, read] of [
    ['streamfold', (stream) => parseEventStream(stream)],
    [
      'eventsource-parser 3.1.1/stream',
      (stream) => stream.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()),
    ],
    ['openai 6.49 Stream', (stream) => Stream.fromSSEResponse(new Response(stream), new AbortController())],
  ]) {
    rows.push({ name, ...(await slowly(read)) })
  }
  return rows
}

async function slowly(readEvents) {
  const unit = makeWire('text', 4000).slice(0, -120)
  const whole = unit.slice(0, unit.lastIndexOf(10) + 1)
  let pulled = 0
  const source = new ReadableStream(
    {
      pull(controller) {
        if (pulled >= SLOW_TOTAL) return controller.close()
        const from = pulled % whole.length
        const read = whole.slice(from, from + 65536)
        controller.enqueue(read)
        pulled += read.length
      },
    },
    { highWaterMark: 0 },
  )
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  const perEvent = whole.length / 4000
  let events = 0
  let peak = 0
  let furthest = 0
  const cpu = process.cpuUsage()
  for await (const _ of readEvents(source)) {
    events++
    if (events % 2000 !== 0) continue
    furthest = Math.max(furthest, pulled - events * perEvent)
    peak = Math.max(peak, process.memoryUsage().rss - before)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const { user, system } = process.cpuUsage(cpu)
  return { events, peakMiB: peak / MIB, aheadKB: furthest / 1024, cpuMs: (user + system) / 1000 }
}

/** T12 beside the peers: CPU time of one event of so many MB in 16 KiB reads. */
export function measureHugeEventPeers() {
  const rows = []
  for (const [name, read] of [
    ['streamfold', oursHuge],
    ['eventsource-parser 3.1.1', espHuge],
  ]) {
    const costs = [1, 2, 4, 8, 16].map((mb) => cpuOf(() => read(hugeBody(mb)), mb))
    rows.push({ name, costs })
  }
  return rows
}

function hugeBody(mb) {
  const body = new Uint8Array(mb * MIB).fill(0x78)
  body.set(new TextEncoder().encode('data: '))
  body.set([10, 10], body.length - 2)
  return body
}

function oursHuge(body) {
  const parser = createEventStreamParser({ maxEventBytes: 64 * MIB })
  let length = 0
  for (let at = 0; at < body.length; at += 16384) {
    for (const { data } of parser.push(body.subarray(at, at + 16384))) length += data.length
  }
  return length
}

function espHuge(body) {
  let length = 0
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent: ({ data }) => void (length += data.length) })
  for (let at = 0; at < body.length; at += 16384) {
    parser.feed(decoder.decode(body.subarray(at, at + 16384), { stream: true }))
  }
  return length
}

function cpuOf(run, mb) {
  const start = process.cpuUsage()
  const length = run()
  const { user, system } = process.cpuUsage(start)
  if (length !== mb * MIB - 8) throw new Error('another event than the one that was sent')
  return (user + system) / 1000
}
