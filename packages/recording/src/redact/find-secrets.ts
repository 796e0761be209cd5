import type { JsonObject, JsonValue } from 'streamfold'
import { isJsonObject } from 'streamfold/json'
import type { HeaderPair, Recording } from 'streamfold/recording'
import { recordedBody } from '../file/recording-report.ts'
import { findSpelledSecrets } from './find-spelled-secrets.ts'
import { isPlaceholder, isShownHeader } from './header-redaction.ts'
import { RedactionPolicy } from './redaction-policy.ts'
import type { RedactionOptions } from './redaction-policy.ts'
import { redactUrl } from './redact-url.ts'

/** A secret that is still in a recording. The secret itself is nowhere in it. */
export interface SecretFinding {
  /** Line of the file. */
  readonly line: number
  /** `header authorization`, `url`, `request body`, `body`, `line note`, `events, choice 0: text`. */
  readonly where: string
  readonly kind: string
  /** Where `where` is a body: offset in it. */
  readonly offset?: number
  readonly length: number
}

/**
 * What a redaction would take out of a recording, and what it can't: secrets that are spelled over several events
 * (`where` begins with `events`). Nothing when it is clean.
 */
export function findSecrets(recording: Recording, options: RedactionOptions = {}): readonly SecretFinding[] {
  const policy = new RedactionPolicy(options)
  const { request, response, reads } = recording
  const findings: SecretFinding[] = []
  const inBytes = (line: number, where: string, bytes: Uint8Array, withOffset: boolean): void => {
    for (const { off, len, kind } of policy.find(bytes)) {
      findings.push({ line, where, kind, ...(withOffset && { offset: off }), length: len })
    }
  }
  const inText = (line: number, where: string, text: string): void => inBytes(line, where, Buffer.from(text), false)
  const inHeaders = (line: number, headers: readonly HeaderPair[]): void => {
    for (const [name, value] of headers) {
      if (isShownHeader(name)) inText(line, `header ${name}`, value)
      else if (!isPlaceholder(value)) {
        findings.push({ line, where: `header ${name}`, kind: 'header', length: Buffer.byteLength(value) })
      }
    }
  }
  for (const line of recording.lines) {
    if (line.other !== undefined) textsIn(line.other, (text) => inText(line.line, `line ${typeOf(line)}`, text))
  }
  if (request !== undefined) {
    const { line, url, headers, body } = request
    if (url !== undefined && redactUrl(url) !== url) {
      findings.push({ line, where: 'url', kind: 'parameter', length: Buffer.byteLength(url) })
    }
    if (url !== undefined) inText(line, 'url', url)
    inHeaders(line, headers)
    if (body !== undefined) inBytes(line, 'request body', body, true)
  }
  if (response !== undefined) inHeaders(response.line, response.headers)
  for (const { off, len, kind } of policy.find(recordedBody(recording))) {
    const read = reads.findLast(({ offset }) => offset <= off)
    findings.push({ line: read?.line ?? recording.head.line, where: 'body', kind, offset: off, length: len })
  }
  for (const { choice, where, kind, length } of findSpelledSecrets(recording, options)) {
    findings.push({ line: recording.head.line, where: `events, choice ${choice}: ${where}`, kind, length })
  }
  return findings.toSorted((a, b) => a.line - b.line)
}

function typeOf(line: Recording['lines'][number]): string {
  return line.t === 'other' ? line.type : line.t
}

function textsIn(value: JsonValue | JsonObject, found: (text: string) => void): void {
  if (typeof value === 'string') found(value)
  else if (Array.isArray(value)) for (const item of value as readonly JsonValue[]) textsIn(item, found)
  else if (isJsonObject(value)) for (const item of Object.values(value)) textsIn(item, found)
}
