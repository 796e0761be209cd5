import { existsSync, readFileSync } from 'node:fs'
import { unreadableReason } from '../file/unreadable-reason.ts'
import { layOut } from './expected-file.ts'
import { SampleError } from './sample-error.ts'

/** What is known to become of each sample under each fault plan: sample, then fault plan, then fate. */
export type AcceptedFates = Readonly<Record<string, Readonly<Record<string, string>>>>

export const FATES_SCHEMA = 'streamfold/fates@1'
/** Beside the samples, in the folder that is verified. */
export const FATES_FILE = 'faults.accepted.json'

/** @throws SampleError for a file that is no such document */
export function readFates(file: string): AcceptedFates {
  if (!existsSync(file)) return {}
  try {
    const document = JSON.parse(readFileSync(file, 'utf8')) as Partial<FatesDocument>
    if (document.schema !== FATES_SCHEMA || document.samples === undefined) throw new Error(`it is no ${FATES_SCHEMA}`)
    return Object.fromEntries(
      Object.entries(document.samples).map(([sample, byFate]) => [
        sample,
        Object.fromEntries(Object.entries(byFate).flatMap(([fate, faults]) => faults.map((fault) => [fault, fate]))),
      ]),
    )
  } catch (error) {
    throw new SampleError(file, unreadableReason(error))
  }
}

interface FatesDocument {
  readonly schema: typeof FATES_SCHEMA
  /** Faults by fate: most faults end a sample in one of a few ways. */
  readonly samples: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
}

export function fatesText(fates: AcceptedFates): string {
  const samples = Object.entries(fates)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([sample, byFault]) => {
      const byFate = new Map<string, string[]>()
      for (const [fault, fate] of Object.entries(byFault)) byFate.set(fate, [...(byFate.get(fate) ?? []), fault])
      return [sample, Object.fromEntries(byFate)] as const
    })
  const document: FatesDocument = { schema: FATES_SCHEMA, samples: Object.fromEntries(samples) }
  return `${layOut(document)}\n`
}
