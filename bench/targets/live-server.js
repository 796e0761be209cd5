// A server that writes one event at a time, in a process of its own: tells its parent the address.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { cutWire, makeWire } from '../wires/make.js'

const [wire, events] = process.argv.slice(2)
const reads = cutWire(makeWire(wire, Number(events)), 'event')

const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const write = async () => {
    for (const read of reads) {
      if (!response.write(read)) await once(response, 'drain')
      // What is written in one turn becomes one chunk of the transfer encoding, and one read of the client.
      await nextTurn()
    }
    response.end()
  }
  void write()
})
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`))
