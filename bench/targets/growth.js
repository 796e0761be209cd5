import { chatCompletions } from '../../packages/core/dist/adapters/index.js'
import { createStreamAccumulator } from '../../packages/core/dist/accumulate/index.js'
import { parseEventStream } from '../../packages/core/dist/client/index.js'
import { createStreamEngine } from '../../packages/core/dist/engine/index.js'
import { createPartialJsonReader } from '../../packages/core/dist/json/index.js'
import { createEventStreamParser } from '../../packages/core/dist/sse/index.js'
import { exponent, median, onCpuMs } from '../measure.js'
import { makeWire } from '../wires/make.js'

function* readsOf(body) {
  for (let from = 0; from < body.length; from += 16384) yield body.subarray(from, from + 16384)
}

function heapMiB() {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1048576
}

const SIZES = [1000, 2000, 4000, 8000, 16_000, 32_000]

/** Long enough for the clock, which the scheduler moves on at its ticks. */
const SAMPLE_MS = 40

/** Cost of jobs at growing sizes: medians of a few samples each. Sizes and jobs alternate. */
async function growthOf(sizes, jobs, rounds) {
  const cells = sizes.flatMap((size) => jobs.map((run, job) => ({ size, run, job, times: 1, samples: [] })))
  for (const cell of cells) {
    // The second run tells how long one takes: the first one is cold.
    await cell.run(cell.size)
    const before = performance.now()
    await cell.run(cell.size)
    cell.times = Math.max(1, Math.ceil(SAMPLE_MS / (performance.now() - before)))
  }
  for (let round = 0; round < rounds; round++) {
    for (const { size, run, times, samples } of cells) {
      globalThis.gc?.()
      const before = onCpuMs()
      for (let n = 0; n < times; n++) await run(size)
      samples.push((onCpuMs() - before) / times)
    }
  }
  return jobs.map((_, job) => {
    const costs = cells.filter((cell) => cell.job === job).map(({ samples }) => median(samples))
    return { sizes, costs, exponent: exponent(costs, sizes) }
  })
}

async function growth(sizes, job) {
  const [grown] = await growthOf(sizes, [job], 9)
  return grown
}

/** T9: a snapshot after each of n deltas, never read as text; what the snapshots add to the deltas. */
export async function measureSnapshots(kind) {
  const chunks = (n) =>
    Array.from({ length: n }, (_, i) =>
      kind === 'text'
        ? { type: 'text-delta', index: 0, text: ' word' }
        : { type: 'tool-call-delta', index: i % 8, id: `call_${i % 8}`, argumentsDelta: ' word' },
    )
  const made = new Map(SIZES.map((n) => [n, chunks(n)]))
  const run = (look) => (n) => {
    const accumulator = createStreamAccumulator()
    let last
    let shared = 0
    for (const chunk of made.get(n)) {
      accumulator.push(chunk)
      if (!look) continue
      const next = accumulator.snapshot()
      if (last !== undefined && last.choices[0].blocks[7] === next.choices[0].blocks[7]) shared++
      last = next
    }
    if (look && kind !== 'text' && shared < n / 2) throw new Error('untouched blocks are not shared')
  }
  const looked = await growth(SIZES, run(true))
  const plain = await growth(SIZES, run(false))
  const n = SIZES.length - 1
  return { ...looked, addedNs: ((looked.costs[n] - plain.costs[n]) * 1e6) / SIZES[n] }
}

/** T10: partial arguments as a value after each of n fragments. */
export function measurePartial() {
  return growth(SIZES, (n) => {
    const reader = createPartialJsonReader()
    reader.push('{"text":"')
    for (let i = 0; i < n; i++) {
      reader.push(' word')
      if (reader.value() === undefined) throw new Error('no value')
    }
  })
}

/**
 * T12: one event of s MB in 16 KiB reads, beside a pass that only decodes and joins. That pass itself grows faster than the body,
 * because new memory has its price, so what counts is growth over the runtime's own.
 */
export async function measureHugeEvent() {
  const sizes = [1, 2, 4, 8, 16, 32]
  const bodies = new Map(
    sizes.map((mb) => {
      const body = new Uint8Array(mb * 1024 * 1024).fill(0x78)
      body.set(new TextEncoder().encode('data: '))
      body.set([10, 10], body.length - 2)
      return [mb, body]
    }),
  )
  const decoder = new TextDecoder()
  const jobs = [
    (mb) => {
      const parser = createEventStreamParser({ maxEventBytes: 64 * 1024 * 1024 })
      let length = 0
      for (const read of readsOf(bodies.get(mb))) for (const event of parser.push(read)) length += event.data.length
      if (length !== mb * 1024 * 1024 - 8) throw new Error('wrong event')
    },
    (mb) => {
      const parts = []
      for (const read of readsOf(bodies.get(mb))) {
        const text = decoder.decode(read)
        if (text.indexOf('\n') < 0 || text.length > 0) parts.push(text)
      }
      const all = parts.join('')
      if (all.slice(6, all.indexOf('\n')).length === 0) throw new Error('empty')
    },
  ]
  const [ours, limit] = await growthOf(sizes, jobs, 9)
  return {
    costs: ours.costs,
    limit: limit.costs,
    exponents: { overLimit: exponent(ours.costs, limit.costs), ours: ours.exponent, limit: limit.exponent },
  }
}

/** T11 and memory: a 200 MB stream read slowly; how far the source runs ahead, and how much is held. */
export async function measureBackpressure() {
  const unit = makeWire('text', 4000).slice(0, -120)
  const end = unit.lastIndexOf(10) + 1
  const read = unit.slice(0, end)
  const total = 200 * 1024 * 1024
  let pulled = 0
  let taken = 0
  let furthest = 0
  const source = new ReadableStream(
    {
      pull(controller) {
        if (pulled >= total) return controller.close()
        const from = pulled % (read.length - 65536)
        controller.enqueue(read.slice(from, from + 65536))
        pulled += 65536
      },
    },
    { highWaterMark: 0 },
  )
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let peak = 0
  let events = 0
  for await (const event of parseEventStream(source)) {
    taken += event.data.length + 8
    events++
    if (events % 2000 !== 0) continue
    furthest = Math.max(furthest, pulled - taken)
    peak = Math.max(peak, process.memoryUsage().rss - before)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return { events, peakMiB: peak / 1048576, aheadKB: furthest / 1024 }
}

/** A million events through the engine, no snapshot kept: does the heap grow with anything but the text itself? */
export function measureFlatHeap() {
  const encoder = new TextEncoder()
  const line = encoder.encode('data: {"id":"r","choices":[{"index":0,"delta":{},"finish_reason":null}]}\n\n')
  const read = new Uint8Array(line.length * 200)
  for (let i = 0; i < 200; i++) read.set(line, i * line.length)
  const engine = createStreamEngine({ adapter: chatCompletions() })
  for (let i = 0; i < 500; i++) engine.push(read)
  const before = heapMiB()
  for (let i = 0; i < 4500; i++) engine.push(read)
  return { events: 1_000_000, grownMiB: heapMiB() - before }
}
