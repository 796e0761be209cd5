import type { StreamReport } from 'streamfold'
import { readRecordings } from 'streamfold/recording'
import type { Recording } from 'streamfold/recording'
import { formatRecordings } from '../file/recording-file.ts'
import { apiOfRecording, reportOfRecording } from '../file/recording-report.ts'
import { redactRecording } from './redact-recording.ts'
import { RedactionPolicy } from './redaction-policy.ts'
import type { RedactionOptions } from './redaction-policy.ts'

/** A secret that no event holds whole: a model writes it a few characters at a time. */
export interface SpelledSecret {
  readonly choice: number
  /** `text`, `reasoning`, `refusal`, or `arguments of` and the id of a call. */
  readonly where: string
  readonly kind: string
  readonly length: number
}

/**
 * Secrets that are left when all events are redacted, in the texts that the events spell together. Masking bytes of one length
 * can't reach them, so all that can be done is to say so.
 */
export function findSpelledSecrets(recording: Recording, options: RedactionOptions = {}): readonly SpelledSecret[] {
  if (recording.head.body === 'encoded') return []
  const [redacted] = readRecordings(formatRecordings([redactRecording(recording, options)]))
  const policy = new RedactionPolicy(options)
  const found: SpelledSecret[] = []
  for (const [choice, where, text] of textsOf(reportOfRecording(redacted!, { api: apiOfRecording(recording) }))) {
    for (const { kind, len } of policy.find(Buffer.from(text))) found.push({ choice, where, kind, length: len })
  }
  return found
}

function textsOf({ choices }: StreamReport): readonly (readonly [choice: number, where: string, text: string])[] {
  return choices.flatMap(({ index, text, reasoning, refusal, toolCalls }) => [
    [index, 'text', text] as const,
    [index, 'reasoning', reasoning] as const,
    [index, 'refusal', refusal] as const,
    ...toolCalls.map(({ callId, argumentsText }) => [index, `arguments of ${callId}`, argumentsText] as const),
  ])
}
