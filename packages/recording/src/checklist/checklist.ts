import { gatherEvidence } from './gather-evidence.ts'
import { QUESTIONS } from './questions.ts'

export const CHECKLIST_SCHEMA = 'streamfold/checklist@1'

/** `in_part`: some of what the question asks for is shown. */
export type ChecklistState = 'shown' | 'in_part' | 'not_shown'

export interface ChecklistAnswer {
  readonly id: string
  readonly question: string
  readonly state: ChecklistState
  /** The files that show it, a few for each part. */
  readonly evidence: readonly { readonly file: string; readonly shows: string }[]
  /** What would show the rest. */
  readonly missing: readonly string[]
}

export interface ChecklistDocument {
  readonly schema: typeof CHECKLIST_SCHEMA
  /** Every question is shown. */
  readonly ok: boolean
  readonly answers: readonly ChecklistAnswer[]
  /** What was found. */
  readonly read: Readonly<
    Record<
      'recordings' | 'samples' | 'verified' | 'verifications' | 'capabilities' | 'paths' | 'ledgers' | 'logs',
      number
    >
  >
  readonly unreadable: readonly { readonly file: string; readonly reason: string }[]
}

/** Enough to look at; the others say the same. */
const SHOWN_PER_PART = 3

/**
 * Answers the questions of a release from what is on disk: recordings, golden samples, results of `verify`, `probe` and `probe-path`,
 * ledgers and log lines. Nothing is run, and nothing counts as shown that no file shows.
 *
 * @throws SampleError for a path that is missing
 */
export function releaseChecklist(paths: readonly string[]): ChecklistDocument {
  const evidence = gatherEvidence(paths)
  const answers = QUESTIONS.map(({ id, question, parts }): ChecklistAnswer => {
    const all = parts(evidence)
    const missing = all.filter(({ shown }) => shown.length === 0).map((part) => part.missing)
    const state = missing.length === 0 ? 'shown' : missing.length === all.length ? 'not_shown' : 'in_part'
    return { id, question, state, evidence: all.flatMap(({ shown }) => shown.slice(0, SHOWN_PER_PART)), missing }
  })
  const { recordings, samples, verified, verifications, capabilities, paths: probed, ledgers, logs } = evidence
  return {
    schema: CHECKLIST_SCHEMA,
    ok: answers.every(({ state }) => state === 'shown'),
    answers,
    read: {
      recordings: recordings.length,
      samples: samples.length,
      verified: verified.length,
      verifications: verifications.length,
      capabilities: capabilities.length,
      paths: probed.length,
      ledgers: ledgers.length,
      logs: logs.length,
    },
    unreadable: evidence.unreadable,
  }
}
