import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A server of servers.js in a process of its own, as it would be. */
export async function startServer(kind, argument) {
  const child = fork(fileURLToPath(new URL('servers.js', import.meta.url)), [kind, argument], { execArgv: [] })
  const [url] = await once(child, 'message')
  return { url, close: () => child.kill() }
}
