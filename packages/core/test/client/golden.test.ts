import { describe, expect, test } from 'vitest'
import { guardFetch } from '../../src/client/guard-fetch.ts'
import { streamModel } from '../../src/client/model-stream.ts'
import type { StreamModelOptions } from '../../src/client/model-stream.ts'
import type { StreamReport } from '../../src/engine/report.ts'
import { play } from '../golden/play.ts'
import { bodyOf, readSamples } from '../golden/sample.ts'
import type { Sample } from '../golden/sample.ts'

/** Bodies that say everything themselves: no facts of a request, no times. */
const SAMPLES = readSamples().filter(
  ({ kind, request, intent }) =>
    kind === 'body' && Object.keys(request).length === 0 && intent.options?.limits === undefined,
)

const READ_BYTES = 100

/**
 * A server that sends the sample in small reads. One that fails is sent in one: nothing is read any more after a failure, and what a
 * later read would have told (counters, above all) is not known then.
 */
function server(sample: Sample): typeof fetch {
  const readBytes = play(sample).report.error === null ? READ_BYTES : Infinity
  return async () => {
    const bytes = bodyOf(sample)
    let at = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length) controller.close()
        else controller.enqueue(bytes.slice(at, (at += readBytes)))
      },
    })
    return new Response(body)
  }
}

/** What does not depend on when things happened, nor on whether there was a head. */
function essence({ outcome, error, choices, usage }: StreamReport): object {
  return { outcome, error, choices, usage }
}

function optionsOf({ intent }: Sample): Pick<StreamModelOptions, 'profile' | 'policy' | 'batch'> {
  const { profile, policy, batch } = intent.options ?? {}
  return {
    ...(profile !== undefined && { profile }),
    ...(policy !== undefined && { policy }),
    ...(batch !== undefined && { batch }),
  }
}

describe('streamModel reads every golden sample as the engine does', () => {
  test.each(SAMPLES.map((sample) => ({ name: sample.name, sample })))('$name', async ({ sample }) => {
    const stream = streamModel({
      api: sample.api,
      baseURL: 'http://host.example',
      body: { model: 'm' },
      fetch: server(sample),
      retry: false,
      throwOnError: false,
      ...optionsOf(sample),
    })
    for await (const _ of stream);
    expect(essence(stream.report())).toEqual(essence(play(sample).report))
  })
})

/** Which calls go out together is not the guard's business. */
const GUARDED = SAMPLES.filter(({ intent }) => intent.options?.batch === undefined)

describe('guardFetch passes every golden sample as it is, as far as it is good', () => {
  test.each(GUARDED.map((sample) => ({ name: sample.name, sample })))('$name', async ({ sample }) => {
    const reports: StreamReport[] = []
    const send = guardFetch(server(sample), {
      api: sample.api,
      ...optionsOf(sample),
      onReport: (report) => reports.push(report),
    })
    const response = await send('http://host.example', { method: 'POST', body: '{"stream":true}' })
    const read: number[] = []
    let failed = false
    try {
      for (const reader = response.body!.getReader(); ;) {
        const { done, value } = await reader.read()
        if (done) break
        read.push(...value)
      }
    } catch {
      failed = true
    }
    const bytes = bodyOf(sample)
    const want = play(sample).report
    expect(reports.map(essence)).toEqual([essence(want)])
    // A body that is no event stream is read by the engine, but not by a client that waits for one; that of Ollama waits for lines.
    const unread = want.diagnostics.some(
      ({ code }) => code === 'downgraded_to_json' || (code === 'ndjson_framing' && sample.api !== 'ollama'),
    )
    expect(failed).toBe(want.error !== null || unread)
    expect(read).toEqual([...bytes.subarray(0, read.length)])
  })
})
