// Started by a client that speaks over stdio: joins its pipes to the socket on which the test's server listens.
import { connect } from 'node:net'

const socket = connect(process.argv[2])
process.stdin.pipe(socket)
socket.pipe(process.stdout)
socket.on('close', () => process.exit())
