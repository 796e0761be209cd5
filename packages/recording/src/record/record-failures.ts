import type { FailureRecorder } from 'streamfold/client'
import type { StreamReport } from 'streamfold/engine'
import type { ExchangeRecorder } from './exchange-recorder.ts'
import { recordingFetch } from './record-fetch.ts'
import type { RecordFetchOptions } from './record-fetch.ts'
import { memorySink } from './recording-sink.ts'

export interface RecordFailuresOptions extends Omit<
  RecordFetchOptions,
  'fetch' | 'sink' | 'onRecorded' | 'maxPendingBytes'
> {
  /**
   * How much of each attempt is kept in memory until it is known how the stream ended, in bytes of the recording. Beyond it the
   * recording ends with `recorder_overflow`, and the stream goes on. Default 4 MiB.
   */
  readonly maxBytes?: number
}

/** What is kept until it is known whether it is wanted. */
const MAX_BYTES = 4 * 1024 * 1024

/**
 * For `onFailure` of `streamModel` and `guardFetch`: hands over a recording of every stream that ended as `failed` or `incomplete`, once
 * it has ended. All its attempts are in it, one exchange after the other; the text is that of a `*.stream.jsonl` file.
 *
 * It is redacted as it is made: headers by an allow-list, keys that were sent and secrets by their form wherever they stand, and of the
 * request's body the facts alone, unless `requestBody` is set. The report beside it is not: it holds what the model said.
 *
 * Give back the promise of what keeps it: `result` of the stream waits for that.
 *
 * Costs a copy of what is received, and the search for secrets in it; a stream that ends well leaves nothing behind.
 */
export function recordFailures(
  onFailure: (recording: string, report: StreamReport) => unknown,
  options: RecordFailuresOptions = {},
): FailureRecorder {
  const { maxBytes = MAX_BYTES, by = 'streamfold recordFailures', ...rest } = options
  return {
    open(inner) {
      const recorders: ExchangeRecorder[] = []
      const exchanges: (() => string)[] = []
      const fetch = recordingFetch(
        {
          ...rest,
          by,
          fetch: inner,
          maxPendingBytes: maxBytes,
          sink: () => {
            const sink = keepingSink()
            exchanges.push(sink.text)
            return sink
          },
        },
        (recorder) => recorders.push(recorder),
      )
      return {
        fetch,
        failed(report) {
          // A request that does not heed its signal is still on its way; nobody waits for it.
          const kind = report.error?.code.endsWith('_timeout') === true ? 'timeout' : 'aborted'
          for (const recorder of recorders) recorder.end(kind, { by: 'consumer' })
          return onFailure(exchanges.map((text) => text()).join(''), report)
        },
      }
    },
  }
}

/** What is kept is what waits: so the recorder sees how much it has become. */
function keepingSink(): ReturnType<typeof memorySink> {
  const sink = memorySink()
  let bytes = 0
  return {
    ...sink,
    get pendingBytes() {
      return bytes
    },
    write(text) {
      bytes += Buffer.byteLength(text)
      sink.write(text)
    },
  }
}
