import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Orders, Said } from './protocol.ts'

/** How a worker process ended. */
export interface WorkerEnd {
  readonly killed: boolean
  readonly code: number | null
  /** Where it killed itself. */
  readonly point: string | undefined
  readonly complaints: string
}

/** Something that is done to a worker from outside, so long after its start, or after it was ready. */
export type Blow = { readonly afterMs: number; readonly since: 'start' | 'ready' } & (
  | { readonly kind: 'kill' }
  | { readonly kind: 'stop'; readonly forMs: number }
)

/** Starts one worker and listens to it until it ends. */
export async function runWorker(
  program: string,
  orders: Orders,
  blow: Blow | undefined,
  hear: (said: Said) => void,
): Promise<WorkerEnd> {
  const child = spawn(process.execPath, ['--enable-source-maps', program], {
    env: { ...process.env, STREAMFOLD_CRASH: JSON.stringify(orders) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const timers: NodeJS.Timeout[] = []
  const strike = (): void => {
    if (blow === undefined) return
    timers.push(
      setTimeout(() => {
        if (blow.kind === 'kill') child.kill('SIGKILL')
        else {
          child.kill('SIGSTOP')
          timers.push(setTimeout(() => child.kill('SIGCONT'), blow.forMs))
        }
      }, blow.afterMs),
    )
  }
  if (blow?.since === 'start') strike()
  let point: string | undefined
  let complaints = ''
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    let said: Said
    try {
      said = JSON.parse(line) as Said
    } catch {
      // A line that the kill cut short: it was not said.
      return
    }
    if (said.said === 'dying') point = said.point
    if (said.said === 'ready' && blow?.since === 'ready') strike()
    hear(said)
  })
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  const [closed] = await Promise.all([
    new Promise<{ code: number | null; signal: string | null }>((resolve) =>
      child.on('close', (code, signal) => resolve({ code, signal })),
    ),
    new Promise((resolve) => lines.on('close', resolve)),
  ])
  for (const timer of timers) clearTimeout(timer)
  return { killed: closed.signal === 'SIGKILL', code: closed.code, point, complaints }
}
