import { APIS } from 'streamfold'
import type { Api } from 'streamfold'

/** How far a body is looked into. The first event says it all, but comments and pings may come before it. */
const HEAD_BYTES = 64 * 1024

/**
 * Signs of each wire format: keys and event names that its first events always have. Content can't be mistaken for them: inside
 * a JSON string the quotes are escaped.
 */
const SIGNS: Readonly<Record<string, RegExp>> = {
  chat_completions: /"choices"\s*:\s*\[|"object"\s*:\s*"chat\.completion/,
  responses: /"type"\s*:\s*"response\.[a-z_.]+"|"object"\s*:\s*"response"|^event:\s*response\./m,
  anthropic_messages: /"type"\s*:\s*"message(?:_start)?"|^event:\s*message_start/m,
  gemini: /"candidates"\s*:\s*\[|"usageMetadata"\s*:\s*\{|"promptFeedback"\s*:\s*\{/,
  ollama: /"done"\s*:\s*(?:true|false)/,
}

/** Signs in the path of a recorded request's URL. */
const PATHS: Readonly<Record<string, RegExp>> = {
  chat_completions: /\/chat\/completions$/,
  responses: /\/responses$/,
  anthropic_messages: /\/messages$/,
  gemini: /:(?:streamGenerateContent|generateContent)$/,
  ollama: /\/api\/(?:chat|generate)$/,
}

/** The name of the wire format, undefined where nothing tells: an error page, an empty body. */
export function detectApi(body: Uint8Array): string | undefined {
  const head = headOf(body)
  let found: string | undefined
  let foundAt = Infinity
  // Whichever comes first: a format may hold another one's key further in, in a call's arguments for example.
  for (const [api, sign] of Object.entries(SIGNS)) {
    const at = head.search(sign)
    if (at < 0 || at >= foundAt) continue
    found = api
    foundAt = at
  }
  return found
}

function headOf(body: Uint8Array): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, HEAD_BYTES))
  if (bytes[0] !== 0) return bytes.toString('utf8')
  // AWS event stream: binary frames, of which Bedrock's hold the event in base64.
  const frames = bytes.toString('latin1')
  return frames.replace(/"bytes"\s*:\s*"([A-Za-z0-9+/=]+)"/g, (_, base64: string) =>
    Buffer.from(base64, 'base64').toString('utf8'),
  )
}

export function detectApiOfUrl(url: string): string | undefined {
  const path = url.replace(/[?#].*$/s, '').replace(/\/$/, '')
  return Object.entries(PATHS).find(([, sign]) => sign.test(path))?.[0]
}

/** Can this version read it? */
export function isKnownApi(name: string): name is Api {
  return (APIS as readonly string[]).includes(name)
}
