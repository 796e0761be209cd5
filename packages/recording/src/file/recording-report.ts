import { adapterFor, APIS, createStreamEngine, detectApi } from 'streamfold'
import type { Api, StreamReport } from 'streamfold'
import { replayInto, requestFactsOf } from 'streamfold/recording'
import type { Recording } from 'streamfold/recording'

/** The body of a recording, as far as it came. */
export function recordedBody({ reads }: Pick<Recording, 'reads'>): Uint8Array {
  return Buffer.concat(reads.map(({ bytes }) => bytes))
}

/** The wire format: what the recording says, else what it looks like, else the most common one. */
export function apiOfRecording(recording: Recording): Api {
  const { head, request } = recording
  const said = APIS.find((api) => api === head.api)
  if (said !== undefined) return said
  const url = request?.url
  return detectApi({ body: recordedBody(recording), ...(url !== undefined && { url }) })?.api ?? 'chat_completions'
}

/**
 * What the engine says of a recording.
 *
 * @throws RecordingError `body_encoded` for a body that still has its content coding on
 */
export function reportOfRecording(
  recording: Recording,
  { api = apiOfRecording(recording) }: { readonly api?: Api } = {},
): StreamReport {
  const engine = createStreamEngine({ adapter: adapterFor(api), request: requestFactsOf(recording.request) })
  replayInto(engine, recording)
  const url = recording.request?.url
  return engine.report({ kind: 'recording', ...(url !== undefined && { url }) })
}
