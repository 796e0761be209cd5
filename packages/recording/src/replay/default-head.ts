import type { HeaderPair } from 'streamfold/recording'
import { bodyUnits } from './body-units.ts'
import type { BodyFraming } from './body-units.ts'
import { bodyOf } from './replay-script.ts'
import type { ReplayScript, ScriptHead } from './replay-script.ts'

const CONTENT_TYPES: Readonly<Record<BodyFraming, string>> = {
  sse: 'text/event-stream; charset=utf-8',
  'json-lines': 'application/x-ndjson',
  'aws-event-stream': 'application/vnd.amazon.eventstream',
  whole: 'application/json',
}

/** Headers that are about one connection or one coding of the body, and not true of another. */
const HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The recorded head without what belonged to the recorded connection, or one that fits a bare body. */
export function headOf(script: ReplayScript): ScriptHead {
  const { head } = script
  if (head !== undefined) {
    return { ...head, headers: head.headers.filter(([name]) => !HOP_HEADERS.has(name.toLowerCase())) }
  }
  const contentType: HeaderPair = ['content-type', CONTENT_TYPES[bodyUnits(bodyOf(script)).framing]]
  return { atUs: 0, status: 200, headers: [contentType] }
}
