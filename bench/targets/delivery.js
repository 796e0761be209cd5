import { limitFraming, limitReading } from '../contenders/limit.js'
import { eventStreamTransform, parseEventStream } from '../../packages/core/dist/client/index.js'
import { alternate } from '../measure.js'
import { cutWire, makeWire, streamOf } from '../wires/make.js'

/** The same events from a web stream: as many as a read gives, one by one, and through a `TransformStream`. */
export async function measureDelivery(cut, { rounds }) {
  const reads = cutWire(makeWire('text', 10_000), cut)
  let events = 0
  const counted = () => void events++
  const contenders = [
    {
      name: 'reader.read() and framing',
      run: () => limitReading(streamOf(reads), (read) => limitFraming([read], counted)),
    },
    {
      name: 'batches()',
      run: async () => {
        for await (const batch of parseEventStream(streamOf(reads)).batches()) events += batch.length
      },
    },
    {
      name: 'event by event',
      run: async () => {
        for await (const _ of parseEventStream(streamOf(reads))) events++
      },
    },
    {
      name: 'TransformStream',
      run: async () => {
        for await (const _ of streamOf(reads).pipeThrough(eventStreamTransform())) events++
      },
    },
  ]
  const measured = await alternate(contenders, { rounds })
  if (events === 0) throw new Error('nothing was delivered')
  return measured
}
