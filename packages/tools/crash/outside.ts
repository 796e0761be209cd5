import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Effect } from '../src/define/tool.ts'

/** The world outside: where effects happen, and are counted in a file that is only added to. */
export interface Outside {
  readonly address: string
  /** How often each deed was done. */
  counts(): ReadonlyMap<string, number>
  close(): Promise<void>
}

interface Deed {
  readonly deed: string
  readonly effect: Effect
  /** Idempotency key. */
  readonly key: string
  readonly fence: number
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

/**
 * `POST /do` does a deed, `GET /done?key=` says whether one was done, `GET /count?deed=` how often.
 * Who asks whether a deed was done closes the door behind those that had the right to do it before: from then on a lower fence
 * is refused, which is what makes "not done" a final answer.
 * @param heedsKeys whether the other side recognises a repeated key of an idempotent deed, as it must
 */
export async function openOutside(logFile: string, heedsKeys: boolean): Promise<Outside> {
  writeFileSync(logFile, '')
  const keys = new Set<string>()
  const fences = new Map<string, number>()
  const counts = (): ReadonlyMap<string, number> => {
    const found = new Map<string, number>()
    for (const line of readFileSync(logFile, 'utf8').split('\n')) {
      if (line === '') continue
      const { deed } = JSON.parse(line) as Deed
      found.set(deed, (found.get(deed) ?? 0) + 1)
    }
    return found
  }
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', 'http://outside')
      if (url.pathname === '/done') {
        const key = url.searchParams.get('key') ?? ''
        fences.set(key, Math.max(fences.get(key) ?? 0, Number(url.searchParams.get('fence'))))
        response.end(JSON.stringify({ done: keys.has(key) }))
        return
      }
      if (url.pathname === '/count') {
        response.end(JSON.stringify({ count: counts().get(url.searchParams.get('deed') ?? '') ?? 0 }))
        return
      }
      const deed = JSON.parse(await bodyOf(request)) as Deed
      if (deed.fence < (fences.get(deed.key) ?? 0)) {
        response.statusCode = 409
        response.end('{}')
        return
      }
      const repeated = heedsKeys && deed.effect === 'idempotent' && keys.has(deed.key)
      if (!repeated) {
        keys.add(deed.key)
        appendFileSync(logFile, `${JSON.stringify(deed)}\n`)
      }
      response.end('{}')
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
