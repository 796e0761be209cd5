import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { adapterFor, createStreamEngine } from '../../packages/core/dist/index.js'
import { readSamples, verify } from '../../packages/recording/dist/index.js'
import { median } from '../measure.js'
import { startServer } from './start-server.js'

const CORPUS = fileURLToPath(new URL('../../corpus', import.meta.url))
const EVENT = Buffer.from(
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: { content: ' word' }, finish_reason: null }] })}\n\n`,
)
/** Of one turn of R1. */
const PACED_READS = 250
const REPLAYED_READS = 10_000

/**
 * R1: from the upstream's write to the client's read, one read at a time, in microseconds: directly, through the proxy with a
 * recorder that has given up, and through the same proxy recording to disk.
 */
export async function measureRecording({ rounds }) {
  const folder = mkdtempSync(join(tmpdir(), 'streamfold-bench-'))
  const upstream = pacedUpstream()
  const to = await upstream.listen()
  const [plain, recording] = await Promise.all([
    startServer('proxy', JSON.stringify({ to })),
    startServer('proxy', JSON.stringify({ to, folder })),
  ])
  try {
    const contenders = [
      { name: 'directly', url: to, samples: [] },
      { name: 'through the proxy, not recording', url: plain.url, samples: [] },
      { name: 'through the proxy, recording to disk', url: recording.url, samples: [] },
    ]
    // Short turns, so that what else runs on the machine meets all three alike.
    for (let round = 0; round < 4 * rounds + 4; round++) {
      const order = round % 2 === 0 ? contenders : contenders.toReversed()
      for (const { url, samples } of order) {
        const micros = await upstream.latencyOf(url)
        if (round >= 4) samples.push(micros / 1000)
      }
    }
    return contenders.map(({ name, samples }) => ({
      name,
      samples,
      median: median(samples),
      min: Math.min(...samples),
    }))
  } finally {
    plain.close()
    recording.close()
    upstream.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes an event, waits until the client has it, pauses as a fast model does, and writes the next. */
function pacedUpstream() {
  let arrived
  const latencies = []
  const server = createServer((asked, response) => {
    asked.resume()
    const answer = async () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      for (let i = 0; i < PACED_READS; i++) {
        await new Promise((resolve) => setTimeout(resolve, 1))
        const writtenAt = performance.now()
        const received = new Promise((resolve) => (arrived = resolve))
        response.write(EVENT)
        await received
        latencies.push((performance.now() - writtenAt) * 1000)
      }
      response.end()
    }
    asked.on('end', () => void answer())
  })
  return {
    listen: async () => {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return `http://127.0.0.1:${server.address().port}`
    },
    latencyOf: async (url) => {
      latencies.length = 0
      const response = await ask(url)
      response.on('data', () => arrived?.())
      await once(response, 'end')
      return median(latencies)
    },
    close: () => server.close(),
  }
}

async function ask(url) {
  const asked = request(`${url}/v1/chat/completions`, { method: 'POST', agent: false })
  asked.end('{"stream":true}')
  const [response] = await once(asked, 'response')
  return response
}

/** R2: a recording of many reads, sent as fast as it can be, against node:http that writes the same bytes in the same pieces. */
export async function measureReplay({ rounds }) {
  const lines = [
    '{"t":"head","format":"streamfold/recording","v":1}',
    '{"t":"res","at":1000,"status":200,"headers":[["content-type","text/event-stream"]]}',
    ...Array.from({ length: REPLAYED_READS }, (_, i) =>
      JSON.stringify({ t: 'b', at: 2000 + i * 1000, off: i * EVENT.length, s: EVENT.toString() }),
    ),
    JSON.stringify({ t: 'end', at: 2000 + REPLAYED_READS * 1000, kind: 'complete' }),
  ].join('\n')
  const folder = mkdtempSync(join(tmpdir(), 'streamfold-bench-'))
  const file = join(folder, 'long.stream.jsonl')
  writeFileSync(file, lines)
  const kinds = ['bare', 'bare-at-once', 'replay']
  const names = ['node:http, a write per turn', 'node:http, all writes in one turn', 'streamfold replay --timing none']
  const servers = await Promise.all(kinds.map((kind) => startServer(kind, file)))
  try {
    const contenders = servers.map(({ url }, i) => ({ name: names[i], url, samples: [] }))
    for (let round = 0; round < rounds + 2; round++) {
      const order = round % 2 === 0 ? contenders : contenders.toReversed()
      for (const { name, url, samples } of order) {
        const startedAt = performance.now()
        const response = await ask(url)
        let bytes = 0
        response.on('data', (read) => (bytes += read.length))
        await once(response, 'end')
        if (round >= 2) samples.push(performance.now() - startedAt)
        if (bytes !== REPLAYED_READS * EVENT.length) throw new Error(`${name}: ${bytes} bytes`)
      }
    }
    return contenders.map(({ name, samples }) => ({
      name,
      samples,
      median: median(samples),
      min: Math.min(...samples),
    }))
  } finally {
    for (const server of servers) server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** R3: one check of `verify` (play a sample in two pieces and compare), against the engine that does nothing but play it. */
export async function measureVerify({ rounds }) {
  const folder = join(CORPUS, 'chat-completions/interleaved-calls')
  const samples = readSamples([folder])
  let checks = 0
  const contenders = [
    {
      name: 'the engine alone, per check',
      samples: [],
      run: () => {
        let played = 0
        for (const { api, options, request: facts, recording } of samples) {
          const body = Buffer.concat(recording.reads.map(({ bytes }) => bytes))
          for (let cut = 1; cut < Math.min(body.length, 4096); cut++, played++) {
            const { profile, ...rest } = options
            const engine = createStreamEngine({ ...rest, adapter: adapterFor(api, profile), request: facts })
            engine.push(body.subarray(0, cut))
            engine.push(body.subarray(cut))
            engine.end('eof')
            engine.report()
            engine.snapshot()
          }
        }
        return played
      },
    },
    {
      name: 'verify --plans every-byte, per check',
      samples: [],
      run: async () => {
        const { ok, totals } = await verify([folder], { plans: 'every-byte', faults: 'none' })
        if (!ok) throw new Error('a sample does not play as expected')
        checks = totals.checks
        return totals.checks
      },
    },
  ]
  for (let round = 0; round < Math.max(3, Math.ceil(rounds / 3)) + 1; round++) {
    for (const { run, samples: taken } of contenders) {
      const startedAt = performance.now()
      const count = await run()
      if (round > 0) taken.push((performance.now() - startedAt) / count)
    }
  }
  if (checks < 1000) throw new Error(`${checks} checks are too few to measure`)
  return contenders.map(({ name, samples: taken }) => ({
    name,
    samples: taken,
    median: median(taken),
    min: Math.min(...taken),
  }))
}
