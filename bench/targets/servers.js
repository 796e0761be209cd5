// The servers that are measured, or measured with, one per process: tells its parent the address.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { once } from 'node:events'
import { createServer } from 'node:http'
import {
  folderSinks,
  parseTiming,
  readRecordingFile,
  startRecordingProxy,
  startReplayServer,
} from '../../packages/recording/dist/index.js'
import { cutWire, makeWire } from '../wires/make.js'

/** A recorder whose disk has failed: the proxy goes on, and nothing is recorded. */
const deadSink = () => ({ pendingBytes: 0, failure: new Error('off'), write: () => {}, close: async () => {} })

const starters = {
  proxy: async (argument) => {
    const { to, folder } = JSON.parse(argument)
    return (await startRecordingProxy({ to, sink: folder === undefined ? deadSink : folderSinks(folder) })).url
  },
  replay: async (file) => {
    const [recording] = await readRecordingFile(file)
    const recordings = [{ name: 'bench', recording }]
    return (await startReplayServer({ recordings, timing: parseTiming('none') })).url
  },
  bare: async (file) => serve(await readsOf(file), true),
  'bare-at-once': async (file) => serve(await readsOf(file), false),
  live: (events) => serve(cutWire(makeWire('text', Number(events)), 'event'), true),
}

async function readsOf(file) {
  const [recording] = await readRecordingFile(file)
  return recording.reads.map(({ bytes }) => bytes)
}

/** What is written in one turn becomes one chunk of the transfer encoding, and one read of the client. */
async function serve(reads, turns) {
  const server = createServer((asked, response) => {
    asked.resume()
    const answer = async () => {
      response.socket.setNoDelay(true)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const bytes of reads) {
        if (!response.write(bytes)) await once(response, 'drain')
        if (turns) await nextTurn()
      }
      response.end()
    }
    asked.on('end', () => void answer())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${server.address().port}`
}

const [kind, argument] = process.argv.slice(2)
process.send(await starters[kind](argument))
