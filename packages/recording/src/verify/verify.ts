import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FATES_FILE, fatesText, readFates } from './accepted-fates.ts'
import type { AcceptedFates } from './accepted-fates.ts'
import { checkFaultArguments } from '../faults/check-fault-arguments.ts'
import { parseFaultPlans } from '../faults/default-faults.ts'
import { checkSample } from './check-sample.ts'
import type { CheckOptions, SampleResult } from './check-sample.ts'
import { checkInWorkers } from './check-in-workers.ts'
import type { CheckTask } from './check-in-workers.ts'
import { expectedText } from './expected-file.ts'
import { readSamples } from './golden-sample.ts'
import type { GoldenSample } from './golden-sample.ts'
import { saveFailures } from './save-failure.ts'
import { parseVerifyPlans } from './verify-plan.ts'

export interface VerifyOptions {
  /** As {@link parseVerifyPlans} reads it. Default `every-byte,random:20`. */
  readonly plans?: string
  /** As {@link parseFaultPlans} reads it. Default `default`. */
  readonly faults?: string
  /** For faults with a probability. Default 1. */
  readonly seed?: number
  /** Write what came out as what is expected, for a person to review. */
  readonly update?: boolean
  /** Keep each failing cut and fault as a new sample in this folder. */
  readonly save?: string
  /** Threads; 1 plays in this one. */
  readonly workers?: number
  readonly onProgress?: (progress: VerifyProgress) => void
  readonly signal?: AbortSignal
}

export interface VerifyProgress {
  readonly done: number
  readonly total: number
  readonly failed: number
  readonly name: string
}

export const VERIFY_SCHEMA = 'streamfold/verify@1'

export interface VerifyDocument {
  readonly schema: typeof VERIFY_SCHEMA
  readonly plans: string
  readonly faults: string
  readonly ok: boolean
  readonly totals: {
    readonly samples: number
    readonly failed: number
    /** Samples without an expected file. */
    readonly unexpected: number
    /** Times that a sample was played and compared. */
    readonly checks: number
    /** Fault plans that have no place in their sample. */
    readonly missed: number
    /** Fault plans without a trace on the wire that led to other calls. */
    readonly untold: number
  }
  readonly samples: readonly VerifiedSample[]
  /** Files that were written: expected files, accepted ends, new samples. */
  readonly written: readonly string[]
}

export type VerifiedSample = Omit<SampleResult, 'played' | 'fates'>

/**
 * Plays golden samples through every cut plan and fault plan, and compares what comes out with what is expected. Reads and writes
 * files; nothing is written unless `update` or `save` ask for it.
 *
 * @throws SampleError for a sample that can't be read
 * @throws ReplaySyntaxError for a plan or a fault that is not known
 */
export async function verify(paths: readonly string[], options: VerifyOptions = {}): Promise<VerifyDocument> {
  const { plans = 'every-byte,random:20', faults = 'default', seed = 1, update = false, save, workers = 1 } = options
  const check: CheckOptions = { plans: parseVerifyPlans(plans), faults: parseFaultPlans(faults), seed }
  checkFaultArguments(check.faults)
  const groups = paths.map((path) => readGroup(path))
  const tasks = groups.flatMap(({ samples, fates }) =>
    samples.map((sample) => ({ sample, fates: fates[sample.name] ?? {} })),
  )
  let failed = 0
  let done = 0
  const onResult = (result: SampleResult): void => {
    if (result.failures.length > 0) failed++
    options.onProgress?.({ done: ++done, total: tasks.length, failed, name: result.name })
  }
  const results =
    workers > 1 && tasks.length > 1
      ? await checkInWorkers(tasks, check, workers, onResult, options.signal)
      : await checkHere(tasks, check, onResult, options.signal)
  const written: string[] = []
  if (save !== undefined) {
    for (const [i, result] of results.entries())
      written.push(...saveFailures(tasks[i]!.sample, result.failures, save, seed))
  }
  if (update) written.push(...writeUpdates(groups, results))
  return documentOf(results, { plans, faults, written, update })
}

interface SampleGroup {
  readonly samples: readonly GoldenSample[]
  readonly fates: AcceptedFates
  readonly fatesFile: string
}

function readGroup(path: string): SampleGroup {
  const samples = readSamples([path])
  const fatesFile = join(statSync(path).isDirectory() ? path : dirname(path), FATES_FILE)
  return { samples, fatesFile, fates: readFates(fatesFile) }
}

async function checkHere(
  tasks: readonly CheckTask[],
  options: CheckOptions,
  onResult: (result: SampleResult) => void,
  signal: AbortSignal | undefined,
): Promise<readonly SampleResult[]> {
  const results: SampleResult[] = []
  for (const { sample, fates } of tasks) {
    signal?.throwIfAborted()
    const result = checkSample(sample, { ...options, fates })
    results.push(result)
    onResult(result)
    // Lets an interrupt and a progress bar in.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return results
}

function writeUpdates(groups: readonly SampleGroup[], results: readonly SampleResult[]): readonly string[] {
  const written: string[] = []
  let next = 0
  for (const { samples, fates, fatesFile } of groups) {
    const after: Record<string, Readonly<Record<string, string>>> = { ...fates }
    for (const sample of samples) {
      const result = results[next++]!
      if (put(sample.expectedFile, expectedText(sample.expected, result.played))) written.push(sample.expectedFile)
      if (Object.keys(result.fates).length > 0) after[sample.name] = { ...fates[sample.name], ...result.fates }
    }
    if (Object.keys(after).length > 0 && put(fatesFile, fatesText(after))) written.push(fatesFile)
  }
  return written
}

/** True where the file was not like that already. */
function put(file: string, text: string): boolean {
  try {
    if (readFileSync(file, 'utf8') === text) return false
  } catch {
    // It is new.
  }
  writeFileSync(file, text)
  return true
}

function documentOf(
  results: readonly SampleResult[],
  { plans, faults, written, update }: { plans: string; faults: string; written: readonly string[]; update: boolean },
): VerifyDocument {
  // What was just written is what is expected now; a broken promise is still one.
  const counts = (kind: string): boolean => !update || (kind !== 'result' && kind !== 'fate')
  const samples = results.map(({ played: _played, fates: _fates, ...result }): VerifiedSample => {
    return { ...result, failures: result.failures.filter(({ kind }) => counts(kind)) }
  })
  const sum = (of: (sample: VerifiedSample) => number): number => samples.reduce((total, one) => total + of(one), 0)
  const failed = sum(({ failures }) => (failures.length > 0 ? 1 : 0))
  return {
    schema: VERIFY_SCHEMA,
    plans,
    faults,
    ok: failed === 0,
    totals: {
      samples: samples.length,
      failed,
      unexpected: update ? 0 : sum(({ unexpected }) => (unexpected ? 1 : 0)),
      checks: sum(({ checks }) => checks),
      missed: sum(({ missed }) => missed.length),
      untold: sum(({ untold }) => untold.length),
    },
    samples,
    written,
  }
}
