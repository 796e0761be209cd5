import type { Api } from '../chunk/api.ts'
import { isRecord } from '../json/value.ts'
import type { ServerSentEvent } from '../sse/event.ts'

/**
 * How sure the answer is. `certain`: a key or event name that only this format has. `likely`: a sign that other formats could
 * carry too, or only the address. Never a reason to override what a user has said.
 */
export type DetectionConfidence = 'certain' | 'likely'

export interface DetectedApi {
  readonly api: Api
  readonly confidence: DetectionConfidence
  /** What gave it away, in words: `the key "choices"`. */
  readonly evidence: string
}

/** What is at hand; each may be absent. */
export interface DetectionInput {
  /** The beginning of the body, decoded from whatever framing it has; the first event is enough. */
  readonly body?: Uint8Array
  readonly contentType?: string
  /** Address of the request. */
  readonly url?: string
}

/** How far a body is looked into. The first event says it all, but comments and pings may come before it. */
const HEAD_BYTES = 64 * 1024

type Fields = Readonly<Record<string, unknown>>

/** Reads one payload by its own keys, so that what stands deeper in it (arguments of a call, for example) is no sign. */
function signOfPayload(payload: Fields, eventName: string | undefined): DetectedApi | undefined {
  const { type, object } = payload
  const said = typeof type === 'string' ? type : eventName
  if (said !== undefined) {
    if (said.startsWith('response.')) return certain('responses', `the event type "${said.slice(0, 40)}"`)
    if (/^(?:message_start|content_block_(?:start|delta|stop)|message_delta)$/.test(said)) {
      return certain('anthropic_messages', `the event type "${said}"`)
    }
    if (/^(?:message-start|content-start|content-delta|tool-plan-delta|tool-call-start)$/.test(said)) {
      return certain('cohere', `the event type "${said}"`)
    }
  }
  if (object === 'response') return certain('responses', 'the object "response"')
  if (typeof object === 'string' && object.startsWith('chat.completion')) {
    return certain('chat_completions', 'the object "chat.completion"')
  }
  if (object === 'text_completion') return certain('completions', 'the object "text_completion"')
  if (Array.isArray(payload['choices'])) {
    const first: unknown = payload['choices'][0]
    const isText = isRecord(first) && 'text' in first && !('delta' in first) && !('message' in first)
    return isText ? likely('completions', 'a choice with a text') : likely('chat_completions', 'the key "choices"')
  }
  if (type === 'message' && 'role' in payload && 'content' in payload) {
    return certain('anthropic_messages', 'the type "message" with role and content')
  }
  if (Array.isArray(payload['candidates'])) return certain('gemini', 'the key "candidates"')
  if (isRecord(payload['promptFeedback']) || isRecord(payload['usageMetadata'])) {
    return likely('gemini', 'the keys of a response without candidates')
  }
  if (typeof payload['done'] === 'boolean') return likely('ollama', 'the key "done"')
  if (typeof payload['event_type'] === 'string' && typeof payload['is_finished'] === 'boolean') {
    return likely('cohere', 'the keys of version 1')
  }
  if (BEDROCK_EVENTS.some((name) => isRecord(payload[name]) || eventName === name)) {
    return certain('bedrock_converse', 'the name of its event')
  }
  if ('contentBlockIndex' in payload) return likely('bedrock_converse', 'the key "contentBlockIndex"')
  return undefined
}

const BEDROCK_EVENTS = ['messageStart', 'contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop']

/** DetectedApis in text that is not whole JSON by lines: a payload over many lines, or frames that are not text. */
const PATTERNS: readonly (readonly [DetectedApi, RegExp])[] = [
  [likely('completions', 'the object "text_completion"'), /"object"\s*:\s*"text_completion/],
  [likely('chat_completions', 'the key "choices"'), /"choices"\s*:\s*\[|"object"\s*:\s*"chat\.completion/],
  [
    likely('responses', 'a type "response.…"'),
    /"type"\s*:\s*"response\.[a-z_.]+"|"object"\s*:\s*"response"|^event:\s*response\./m,
  ],
  [likely('anthropic_messages', 'a type of its events'), /"type"\s*:\s*"message(?:_start)?"|^event:\s*message_start/m],
  [
    likely('gemini', 'the key "candidates"'),
    /"candidates"\s*:\s*\[|"usageMetadata"\s*:\s*\{|"promptFeedback"\s*:\s*\{/,
  ],
  [likely('ollama', 'the key "done"'), /"done"\s*:\s*(?:true|false)/],
  [likely('cohere', 'a type of its events'), /"type"\s*:\s*"(?:message-start|content-start|tool-plan-delta)"/],
  [
    likely('bedrock_converse', 'the name of its event'),
    /:event-type[^\w]{1,4}(?:messageStart|contentBlock\w+)|"messageStart"\s*:\s*\{/,
  ],
]

const PATHS: readonly (readonly [Api, RegExp])[] = [
  ['chat_completions', /\/chat\/completions$/],
  ['completions', /\/completions$/],
  ['responses', /\/responses$/],
  ['anthropic_messages', /\/messages$/],
  ['gemini', /:(?:streamGenerateContent|generateContent)$/],
  ['ollama', /\/api\/(?:chat|generate)$/],
  ['cohere', /\/v2\/chat$/],
  ['bedrock_converse', /\/converse(?:-stream)?$/],
]

/**
 * The wire format of a body, undefined where nothing tells: an error page, an empty body. The first payload that has a sign
 * decides; the address and the content type count only where the body says nothing.
 */
export function detectApi({ body, contentType, url }: DetectionInput): DetectedApi | undefined {
  const head = body === undefined ? '' : headOf(body)
  const sign = signOfLines(head) ?? signOfText(head)
  if (sign !== undefined) return sign
  const api = url === undefined ? undefined : apiOfPath(url)
  if (api !== undefined) return likely(api, 'the path of the address')
  return contentType !== undefined && /^application\/x-ndjson\b/i.test(contentType)
    ? likely('ollama', 'the content type application/x-ndjson')
    : undefined
}

/** The wire format of one event; undefined where its own keys and its name say nothing. */
export function detectEvent({ data, event }: ServerSentEvent): DetectedApi | undefined {
  const payload = parse(data)
  const first: unknown = Array.isArray(payload) ? payload[0] : payload
  return isRecord(first) ? signOfPayload(first, event) : undefined
}

function signOfLines(head: string): DetectedApi | undefined {
  let eventName: string | undefined
  for (const line of head.split(/\r\n|\r|\n/)) {
    if (line === '') eventName = undefined
    const name = /^event: ?(.*)$/.exec(line)
    if (name !== null) eventName = name[1]
    const json = /^(?:data: ?|\s*\[?,?\s*)(\{.*\})\s*[,\]]?$/.exec(line)?.[1]
    const payload = json === undefined ? undefined : parse(json)
    const sign = isRecord(payload) ? signOfPayload(payload, eventName) : undefined
    if (sign !== undefined) return sign
  }
  return undefined
}

/** Whichever comes first: a format may hold another one's key further in. */
function signOfText(head: string): DetectedApi | undefined {
  let found: DetectedApi | undefined
  let foundAt = Infinity
  for (const [sign, pattern] of PATTERNS) {
    const at = head.search(pattern)
    if (at < 0 || at >= foundAt) continue
    found = sign
    foundAt = at
  }
  return found
}

function apiOfPath(url: string): Api | undefined {
  const path = url.replace(/[?#].*$/s, '').replace(/\/$/, '')
  return PATHS.find(([, pattern]) => pattern.test(path))?.[0]
}

function headOf(body: Uint8Array): string {
  const bytes = body.subarray(0, HEAD_BYTES)
  if (bytes[0] !== 0) return new TextDecoder().decode(bytes)
  // AWS event stream: binary frames, of which some hold the event in base64.
  return new TextDecoder('latin1')
    .decode(bytes)
    .replace(/"bytes"\s*:\s*"([A-Za-z0-9+/=]+)"/g, (whole, base64: string) => decoded(base64) ?? whole)
}

function decoded(base64: string): string | undefined {
  try {
    return atob(base64)
  } catch {
    return undefined
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function certain(api: Api, evidence: string): DetectedApi {
  return { api, confidence: 'certain', evidence }
}

function likely(api: Api, evidence: string): DetectedApi {
  return { api, confidence: 'likely', evidence }
}
