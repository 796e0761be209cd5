import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startRecordingProxy } from '../../src/record/recording-proxy.ts'
import { folderSinks } from '../../src/record/recording-sink.ts'
import { bodyOf, cleanUp, recordingsIn, temporaryFolder } from './upstream.ts'

const folder = temporaryFolder()
const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost'
const made = spawnSync('openssl', [
  ...request.split(' '),
  '-addext',
  'subjectAltName=DNS:localhost',
  '-keyout',
  key,
  '-out',
  certificate,
])

// No openssl on this machine: nothing to make a certificate with.
test.skipIf(made.status !== 0)('an upstream that speaks TLS; one whose certificate is not trusted', async () => {
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (asked, response) => {
    asked.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: 1\n\n')
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  cleanUp(() => {
    server.closeAllConnections()
    server.close()
  })
  const to = `https://localhost:${(server.address() as AddressInfo).port}`
  const [trusting, wary] = [join(folder, 'trusting'), join(folder, 'wary')]
  const ca = readFileSync(certificate, 'utf8')
  const proxy = await startRecordingProxy({ to, by: 'test', sink: folderSinks(trusting), ca })
  expect(await (await fetch(proxy.url)).text()).toBe('data: 1\n\n')
  await proxy.close()
  const [recording] = recordingsIn(trusting)
  expect([recording!.request!.url, bodyOf(recording!)]).toEqual([`${to}/`, 'data: 1\n\n'])

  const other = await startRecordingProxy({ to, by: 'test', sink: folderSinks(wary) })
  expect((await fetch(other.url)).status).toBe(502)
  await other.close()
  expect(recordingsIn(wary)[0]!.end).toMatchObject({ kind: 'error', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
})
