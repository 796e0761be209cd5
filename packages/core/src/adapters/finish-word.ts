import type { FinishReason } from '../chunk/finish-reason.ts'
import type { AdapterOutput } from './adapter.ts'
import { printed } from './kept-value.ts'
import { isNothing } from './wire-value.ts'

/** Why a choice ended, in the wire's own word and in ours. */
export interface FinishWord {
  readonly reason: FinishReason
  readonly raw: string
}

/** Words of a profile for finish reasons of its server. */
export type FinishAliases = Readonly<Record<string, FinishReason>>

/** What a profile makes of a finish reason; it goes before what the wire format says. */
export function aliasOf(word: string, aliases: FinishAliases): FinishReason | undefined {
  return Object.hasOwn(aliases, word) ? aliases[word] : undefined
}

/**
 * Reads a finish reason as it stands on the wire. Undefined when nothing was said: absent, `null`, or an empty text, which some
 * servers send on every chunk (fault F098). A word that is not known stays `unknown`, with a finding.
 */
export function readFinishWord(
  raw: unknown,
  reasonOf: (word: string) => FinishReason,
  out: AdapterOutput,
): FinishWord | undefined {
  if (isNothing(raw)) return undefined
  const word = typeof raw === 'string' ? raw : printed(raw)
  if (word === '') {
    out.note('finish_reason_empty')
    return undefined
  }
  const reason = reasonOf(word)
  if (reason === 'unknown') out.note('unknown_finish_reason', JSON.stringify(word.slice(0, 60)))
  return { reason, raw: word }
}
