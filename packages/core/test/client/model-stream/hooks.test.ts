import { describe, expect, test, vi } from 'vitest'
import type { FailureRecorder } from '../../../src/client/failure-recorder.ts'
import type { StreamModelOptions } from '../../../src/client/model-stream.ts'
import type { LogLine } from '../../../src/engine/log-line.ts'
import { eventStream, HELLO, WIRE } from '../fake-fetch.ts'
import { collect, open } from './open-stream.ts'

function failing(): void {
  throw new Error('mine')
}

describe('onReport', () => {
  test('sees the report once, also of a failure', async () => {
    const onReport = vi.fn<(report: { outcome: unknown }) => void>()
    await collect(open([eventStream(WIRE.text('x'))], { onReport }))
    expect(onReport.mock.calls.map(([{ outcome }]) => outcome)).toEqual(['incomplete'])
  })

  test('that throws disturbs no reader', async () => {
    const thrown: unknown[] = []
    const real = queueMicrotask
    const aside = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((task) =>
      real(() => {
        try {
          task()
        } catch (error) {
          thrown.push(error)
        }
      }),
    )
    try {
      expect(await open([eventStream(HELLO)], { onReport: failing }).result).toMatchObject({ outcome: 'completed' })
      await vi.waitFor(() => expect(thrown).toEqual([new Error('mine')]))
    } finally {
      aside.mockRestore()
    }
  })
})

describe('onLog', () => {
  test('has one line of every stream, and nothing of what it said', async () => {
    const onLog = vi.fn<(line: LogLine) => void>()
    const body =
      WIRE.text('a secret') + WIRE.call('c1', 'f', '{"city":"Paris"}') + WIRE.finish('tool_calls') + WIRE.done
    await open([eventStream(body)], { onLog, route: 'a' }).result
    expect(onLog.mock.calls).toMatchObject([[{ outcome: 'completed', route: 'a', attempt: 1, text_delta_bytes: 8 }]])
    expect(JSON.stringify(onLog.mock.calls)).not.toMatch(/a secret|Paris/)
  })
})

interface Watched {
  readonly options: Partial<StreamModelOptions>
  readonly seen: unknown[]
}
/** A recorder that notes what it is told. */
function watched(): Watched {
  const seen: unknown[] = []
  const recorder: FailureRecorder = {
    open: (inner) => ({
      fetch: (input, init) => {
        seen.push('request')
        return inner(input, init)
      },
      failed: ({ outcome, attempts }) => seen.push([outcome, attempts.length]),
    }),
  }
  return { options: { onFailure: recorder, throwOnError: false, retry: { baseDelayMs: 0 } }, seen }
}

describe('onFailure', () => {
  test('hears of a stream that failed, after all its attempts', async () => {
    const { options, seen } = watched()
    await open([eventStream(''), eventStream(WIRE.text('x'))], options).result
    expect(seen).toEqual(['request', 'request', ['incomplete', 2]])
  })

  test('hears nothing of one that ended well at last', async () => {
    const { options, seen } = watched()
    await open([eventStream(''), eventStream(HELLO)], options).result
    expect(seen).toEqual(['request', 'request'])
  })

  test('hears nothing of one that its reader left', async () => {
    const { options, seen } = watched()
    for await (const _ of open([eventStream(HELLO)], { ...options, retry: false }).batches()) break
    const cancelled = open([], options)
    cancelled.cancel()
    await cancelled.result
    expect(seen).toEqual(['request'])
  })

  test.each([true, false])('is awaited by the result of a stream (throwOnError: %s)', async (throwOnError) => {
    const order: string[] = []
    let keep: (() => void) | undefined
    const onFailure: FailureRecorder = {
      open: (inner) => ({ fetch: inner, failed: () => new Promise<void>((resolve) => (keep = resolve)) }),
    }
    const stream = open([eventStream(WIRE.text('x'))], { onFailure, throwOnError })
    const first = stream.result.then(
      () => order.push('resolved'),
      () => order.push('rejected'),
    )
    await vi.waitFor(() => expect(keep).toBeDefined())
    // Whatever else was due has come.
    await new Promise((resolve) => setTimeout(resolve))
    expect(order).toEqual([])
    order.push('kept')
    keep!()
    await first
    expect(order).toEqual(['kept', throwOnError ? 'rejected' : 'resolved'])
  })

  test('is awaited by a result that is asked for after the loop', async () => {
    let keep: (() => void) | undefined
    let kept = false
    const onFailure: FailureRecorder = {
      open: (inner) => ({
        fetch: inner,
        failed: async () => {
          await new Promise<void>((resolve) => (keep = resolve))
          kept = true
        },
      }),
    }
    const stream = open([eventStream(WIRE.text('x'))], { onFailure })
    expect((await collect(stream)).error).toMatchObject({ code: 'incomplete_stream' })
    expect(kept).toBe(false)
    const result = stream.result.catch((error: unknown) => ({ error, kept }))
    keep!()
    expect(await result).toMatchObject({ error: { code: 'incomplete_stream' }, kept: true })
  })

  // Elsewhere an error that nobody catches can't be kept from ending the run.
  test.skipIf(typeof process === 'undefined')(
    'that fails later disturbs no reader, and is seen as the error that it is',
    async () => {
      const uncaught: unknown[] = []
      const listeners = process.listeners('uncaughtException')
      process.removeAllListeners('uncaughtException')
      process.once('uncaughtException', (error) => uncaught.push(error))
      try {
        const full = new Error('disk full')
        const onFailure: FailureRecorder = { open: (inner) => ({ fetch: inner, failed: () => Promise.reject(full) }) }
        const failed = open([eventStream(WIRE.text('x'))], { onFailure })
        await expect(failed.result).rejects.toMatchObject({ code: 'incomplete_stream' })
        await vi.waitFor(() => expect(uncaught).toEqual([full]))
      } finally {
        for (const listener of listeners) process.on('uncaughtException', listener)
      }
    },
  )

  test('is no bare callback: it would be given what is not redacted', () => {
    const callback = (() => {}) as unknown as FailureRecorder
    expect(() => open([], { onFailure: callback })).toThrow(/recordFailures/)
  })
})
