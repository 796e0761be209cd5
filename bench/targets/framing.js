import { limitFraming, limitFramingCut, limitGenerator, limitReading } from '../contenders/limit.js'
import { oursAsync, oursFraming } from '../contenders/ours.js'
import { alternate } from '../measure.js'
import { cutWire, makeWire, streamOf } from '../wires/make.js'
import { startServer } from './start-server.js'

const EVENTS = 20_000

/** T2–T4: bytes → events by push. */
export const pushCells = [
  { target: 'T2', wire: 'text', cut: 16384, limit: 1.25, esp: 2 },
  { target: 'T2', wire: 'text', cut: 65536, limit: 1.25, esp: 2 },
  { target: 'T3', wire: 'text', cut: 'event', limit: 1.35, esp: 1.5 },
  { target: 'T3', wire: 'text', cut: 37, limit: 1.35, esp: 1.5, events: 5000 },
  { target: 'T4', wire: 'cjk', cut: 16384, esp: 0.95 },
  { target: 'T4', wire: 'cjk', cut: 'event', esp: 1.5 },
]

export async function measurePush(cell, { rounds }) {
  const { espFraming } = await import('../contenders/peers.js')
  const reads = cutWire(makeWire(cell.wire, cell.events ?? EVENTS), cell.cut)
  const whole = cell.wire === 'cjk' && cell.cut !== 'event' ? limitFramingCut : limitFraming
  const contenders = [
    { name: 'limit', frame: whole },
    { name: 'streamfold', frame: oursFraming },
    { name: 'streamfold with offsets', frame: (r, emit) => oursFraming(r, emit, { offsets: true }) },
    { name: 'eventsource-parser 3.1.1', frame: espFraming },
  ]
  const digest = (frame) => {
    let count = 0
    let length = 0
    let last = ''
    frame(reads, ({ data }) => {
      count++
      length += data.length
      last = data
    })
    return `${count} ${length} ${last}`
  }
  const wanted = digest(whole)
  for (const { name, frame } of contenders)
    if (digest(frame) !== wanted) throw new Error(`${name}: other events than the limit`)
  let sink = 0
  const measured = await alternate(
    contenders.map(({ name, frame }) => ({
      name,
      run: () => frame(reads, (event) => void (sink += event.data.length)),
    })),
    { rounds },
  )
  if (sink === 0) throw new Error('nothing was framed')
  return measured
}

/** T5: events one by one from a web stream. */
export async function measureAsync({ rounds }) {
  const { espStream, openaiStream } = await import('../contenders/peers.js')
  const reads = cutWire(makeWire('text', EVENTS), 16384)
  const contenders = [
    {
      name: 'limit + reading + async generator',
      run: async () => {
        let n = 0
        for await (const { data } of limitGenerator(streamOf(reads))) n += data === '' ? 0 : 1
        return n
      },
    },
    { name: 'streamfold', run: () => counted(oursAsync) },
    { name: 'eventsource-parser 3.1.1/stream', run: () => counted(espStream) },
    { name: 'openai 6.49 Stream', run: () => counted(openaiStream, 1) },
  ]
  const counted = async (iterate, missing = 0) => {
    let n = missing
    await iterate(streamOf(reads), () => n++)
    return n
  }
  const wanted = await contenders[0].run()
  for (const { name, run } of contenders) {
    const got = await run()
    if (got !== wanted) throw new Error(`${name}: ${got} events, the limit gives ${wanted}`)
  }
  return alternate(contenders, { rounds })
}

/**
 * T13: one event per read, as the body of a `fetch` has them while a server is still writing. A stream that has its reads at hand
 * costs a tenth of that: see {@link measureDelivery}.
 */
export async function measureLive({ rounds }) {
  const server = await startServer('live', String(EVENTS))
  try {
    let length = 0
    const take = (event) => void (length += event.data.length)
    const body = async () => (await fetch(server.url)).body
    const readAndFrame = async () => {
      let cut = ''
      await limitReading(await body(), (read) => void (cut = limitFraming([read], take, cut)))
    }
    const contenders = [
      { name: 'reader.read() + limit', run: readAndFrame },
      { name: 'limit + reading + async generator', run: async () => each(limitGenerator(await body()), take) },
      { name: 'streamfold', run: async () => oursAsync(await body(), take) },
    ]
    const lengths = []
    for (const { run } of contenders) {
      length = 0
      await run()
      lengths.push(length)
    }
    if (new Set(lengths).size > 1) throw new Error(`not the same events: ${lengths.join(', ')} characters of data`)
    return await alternate(contenders, { rounds })
  } finally {
    server.close()
  }
}

async function each(events, take) {
  for await (const event of events) take(event)
}
