import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { startPostgres } from '../crash/postgres-server.ts'
import type { PostgresServer } from '../crash/postgres-server.ts'

/**
 * One PostgreSQL for all test files, started when the first of them asks for a database: POST to `postgresAddress` makes
 * one and answers with its address.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined
  const broker = createServer((_request, response) => {
    server ??= startPostgres()
    server
      .then((started) => started.createDatabase())
      .then(
        (address) => response.end(address),
        (error: unknown) => {
          response.statusCode = 500
          response.end(String(error))
        },
      )
  })
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve))
  project.provide('postgresAddress', `http://127.0.0.1:${(broker.address() as AddressInfo).port}`)
  return async () => {
    broker.closeAllConnections()
    await new Promise((resolve) => broker.close(resolve))
    if (server !== undefined) await (await server).stop()
  }
}
