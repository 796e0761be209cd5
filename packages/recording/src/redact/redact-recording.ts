import type { JsonObject, JsonValue } from 'streamfold'
import { isJsonObject } from 'streamfold/json'
import { RecordingError } from 'streamfold/recording'
import type { LineToWrite, Recording, RecordingEnd } from 'streamfold/recording'
import type { Redaction } from './body-redactor.ts'
import { credentialsIn, redactHeaders } from './header-redaction.ts'
import { REDACTION_POLICY, RedactionPolicy } from './redaction-policy.ts'
import type { RedactionOptions } from './redaction-policy.ts'
import { redactUrl } from './redact-url.ts'

/**
 * The lines of a recording without its secrets, for `writeRecordings`. Body and offsets keep their lengths; the end line
 * lists what was masked in the body. Lines that are not understood are kept, with the secrets inside their texts masked.
 *
 * @throws RecordingError `body_encoded` for a body with its content coding on: nothing can be seen in it
 */
export function redactRecording(
  recording: Recording,
  options: RedactionOptions = {},
): { readonly lines: readonly LineToWrite[] } {
  const policy = new RedactionPolicy(options)
  const secrets = credentialsIn(recording.request?.headers ?? [])
  if (recording.head.body === 'encoded') {
    throw new RecordingError(
      'body_encoded',
      recording.head.line,
      'its content coding is on, so secrets in it can not be seen',
    )
  }
  const text = (value: string): string => policy.text(value, secrets)
  const other = (fields: JsonObject | undefined): { readonly other?: JsonObject } =>
    fields === undefined ? {} : { other: redactTexts(fields, text) as JsonObject }
  const redactor = policy.body(secrets)
  const settled = [...recording.reads.flatMap(({ bytes, atUs }) => redactor.push(bytes, atUs)), ...redactor.end()]
  let reads = 0
  const lines = recording.lines.map((line): LineToWrite => {
    switch (line.t) {
      case 'head':
        return {
          ...line,
          other: { ...other(line.other).other, redaction: { policy: REDACTION_POLICY, applied: true } },
        }
      case 'req':
        return {
          ...line,
          ...(line.url !== undefined && { url: text(redactUrl(line.url)) }),
          headers: redactHeaders(line.headers, text),
          ...(line.body !== undefined && { body: policy.bytes(line.body, secrets) }),
          ...other(line.other),
        }
      case 'res':
        return { ...line, headers: redactHeaders(line.headers, text), ...other(line.other) }
      case 'b':
        return { ...line, bytes: settled[reads++]!.bytes, ...other(line.other) }
      case 'end':
        return redactEnd(line, redactor.redactions(), other(line.other).other)
      case 'other':
        return { ...line, other: redactTexts(line.other, text) as JsonObject }
    }
  })
  return { lines }
}

/** What an earlier redaction masked stays in the list. */
function redactEnd(end: RecordingEnd, redactions: readonly Redaction[], other: JsonObject = {}): LineToWrite {
  const before = Array.isArray(other['redactions']) ? (other['redactions'] as readonly JsonValue[]) : []
  const all = [...before, ...redactions.map(({ off, len, kind }) => ({ off, len, kind }))]
  return { ...end, other: { ...other, ...(all.length > 0 && { redactions: all }) } }
}

function redactTexts(value: JsonValue, text: (value: string) => string): JsonValue {
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => redactTexts(item, text))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, redactTexts(item, text)]))
}
