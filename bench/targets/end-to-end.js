import { limitEndToEnd } from '../contenders/limit.js'
import { oursEndToEnd } from '../contenders/ours.js'
import { alternate } from '../measure.js'
import { cutWire, makeWire, streamOf } from '../wires/make.js'

const EVENTS = 20_000

/** T6 and T7: bytes → stream events and a snapshot, against the limit. */
export async function measureLimits(wire, { rounds }) {
  const reads = cutWire(makeWire(wire, EVENTS), 16384)
  const limit = () => limitEndToEnd(reads, wire === 'cjk')
  const contenders = [
    { name: 'limit: decode + JSON.parse + concatenate', run: limit },
    { name: 'streamfold', run: () => oursEndToEnd(reads) },
    { name: 'streamfold, template off', run: () => oursEndToEnd(reads, { template: false }) },
  ]
  same(contenders)
  return alternate(contenders, { rounds })
}

/** T8: the same against the clients that people use. */
export async function measurePeers(wire, { rounds }) {
  const peers = await import('../contenders/peers.js')
  const reads = cutWire(makeWire(wire, EVENTS), 16384)
  const tools = wire === 'tools'
  const contenders = [
    { name: 'streamfold', run: () => oursEndToEnd(reads) },
    { name: 'eventsource-parser + JSON.parse by hand', run: () => peers.espEndToEnd(reads) },
    { name: 'openai 6.49 ChatCompletionStream', run: () => peers.openaiHelper(streamOf(reads)) },
    { name: 'ai-sdk openai-compatible 2.0 doStream', run: () => peers.aiDoStream(streamOf(reads)) },
    { name: 'ai 6.0 streamText', run: () => peers.aiStreamText(streamOf(reads), tools) },
    { name: 'langchain ChatOpenAI.stream + concat', run: () => peers.langchain(streamOf(reads)) },
  ]
  await sameAsync(contenders)
  return alternate(contenders, { rounds, warmup: 1 })
}

function same(contenders) {
  const wanted = normal(contenders[0].run())
  for (const { name, run } of contenders)
    if (normal(run()) !== wanted) throw new Error(`${name}: another message than the limit`)
}

async function sameAsync(contenders) {
  const wanted = normal(await contenders[0].run())
  for (const { name, run } of contenders) {
    const got = normal(await run())
    if (got !== wanted) throw new Error(`${name}: another message\n${got.slice(0, 300)}\n${wanted.slice(0, 300)}`)
  }
}

/** Arguments are compared as values: some clients give them parsed. */
function normal({ text, finish, calls }) {
  return JSON.stringify({
    text,
    finish,
    calls: calls.map(({ id, name, arguments: raw }) => ({ id, name, value: JSON.parse(raw) })),
  })
}
