import { baselineRequest } from './baseline.ts'
import type { BaselineOptions } from './baseline.ts'
import type { RecordedExchange } from './exchange-recorder.ts'
import { startRecordingProxy } from './recording-proxy.ts'
import type { RecordingProxyOptions } from './recording-proxy.ts'

export interface RecordBaselineOptions
  extends BaselineOptions, Omit<RecordingProxyOptions, 'onRecorded' | 'requestBody' | 'host' | 'port'> {
  /** Default `chat_completions`. */
  readonly api?: string
  readonly signal?: AbortSignal
}

/**
 * Sends the baseline request to an endpoint, through the recording proxy, and reads the answer to its end. The body of the
 * request is in the recording: there is nothing private in it.
 *
 * @throws TypeError for an API without a baseline request, or a `to` that is no URL
 */
export async function recordBaseline(options: RecordBaselineOptions): Promise<RecordedExchange> {
  const { api = 'chat_completions', model, apiKey, signal } = options
  const { path, headers, body } = baselineRequest(api, { model, ...(apiKey !== undefined && { apiKey }) })
  let recorded: RecordedExchange | undefined
  const proxy = await startRecordingProxy({
    ...options,
    api,
    labels: { ...options.labels, baseline: api },
    requestBody: true,
    onRecorded: (exchange) => (recorded = exchange),
  })
  try {
    const response = await fetch(`${proxy.url}${path}`, { method: 'POST', headers, body, ...(signal && { signal }) })
    for await (const _ of response.body ?? []);
  } catch {
    // How it ended is in the recording.
  } finally {
    await proxy.close()
  }
  if (recorded === undefined) throw new Error('the request did not reach the recording proxy')
  return recorded
}
