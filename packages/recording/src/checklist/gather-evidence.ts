import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import type { StreamReport } from 'streamfold'
import type { LogLine } from 'streamfold/engine'
import type { Recording } from 'streamfold/recording'
import { parseRecordings } from '../file/recording-file.ts'
import { unreadableReason } from '../file/unreadable-reason.ts'
import { reportOfRecording } from '../file/recording-report.ts'
import { CAPABILITIES_SCHEMA } from '../probe/capability.ts'
import type { CapabilityRecord } from '../probe/capability.ts'
import { PATH_SCHEMA } from '../probe-path/path-document.ts'
import type { PathDocument } from '../probe-path/path-document.ts'
import { EXPECTED_EXTENSION, isSampleFile, readSample } from '../verify/golden-sample.ts'
import type { GoldenSample } from '../verify/golden-sample.ts'
import { SampleError } from '../verify/sample-error.ts'
import { VERIFY_SCHEMA } from '../verify/verify.ts'
import type { VerifyDocument } from '../verify/verify.ts'

/** Something on disk, and what file it is. */
export interface Found<T> {
  readonly file: string
  readonly it: T
}

/** What files and folders hold that can answer the questions of a release. */
export interface Evidence {
  readonly recordings: readonly Found<{ readonly recording: Recording; readonly report: StreamReport }>[]
  /** Samples with an expected file. */
  readonly samples: readonly Found<GoldenSample>[]
  /** Those of them that a good result of `verify` names. */
  readonly verified: readonly Found<GoldenSample>[]
  readonly verifications: readonly Found<VerifyDocument>[]
  readonly capabilities: readonly Found<CapabilityRecord>[]
  readonly paths: readonly Found<PathDocument>[]
  /** SQLite files with the tables of a ledger, by name. */
  readonly ledgers: readonly Found<readonly string[]>[]
  /** Log lines of streams, a file of them at a time. */
  readonly logs: readonly Found<readonly LogLine[]>[]
  readonly unreadable: readonly { readonly file: string; readonly reason: string }[]
}

type Mutable = { -readonly [Key in keyof Evidence]: Evidence[Key] extends readonly (infer Item)[] ? Item[] : never }

const RECORDING_FILE = /\.stream\.jsonl(?:\.gz)?$/
const LEDGER_TABLES = ['streamfold_call', 'streamfold_execution', 'streamfold_audit', 'streamfold_approval'] as const
/** A larger document is nothing of ours. */
const MOST_BYTES = 256 * 1024 * 1024

/**
 * Reads what is there; nothing is played through cuts or sent anywhere. A file that can't be read is told, and answers nothing.
 *
 * @throws SampleError for a path that is missing
 */
export function gatherEvidence(paths: readonly string[]): Evidence {
  const found: Mutable = {
    recordings: [],
    samples: [],
    verified: [],
    verifications: [],
    capabilities: [],
    paths: [],
    ledgers: [],
    logs: [],
    unreadable: [],
  }
  for (const path of paths) {
    if (!existsSync(path)) throw new SampleError(path, 'no such file or folder')
    for (const file of filesOf(path)) {
      try {
        take(file, statSync(path).isDirectory() ? relative(path, file).replaceAll('\\', '/') : basename(file), found)
      } catch (error) {
        const reason = unreadableReason(error)
        found.unreadable.push({ file, reason: reason.replace(`${file}: `, '') })
      }
    }
  }
  found.verified = found.samples.filter(({ it }) => found.verifications.some((doc) => isVerified(it, doc)))
  return found
}

function filesOf(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/[\\/](?:node_modules|\.git)[\\/]/.test(file) && !file.endsWith(EXPECTED_EXTENSION))
    .toSorted()
}

function take(file: string, name: string, found: Mutable): void {
  if (isSampleFile(file)) {
    const expected = file.replace(/(?:\.stream\.jsonl(?:\.gz)?|\.[^.]+)$/, EXPECTED_EXTENSION)
    if (existsSync(expected)) found.samples.push({ file, it: readSample(file, name) })
  }
  if (RECORDING_FILE.test(file)) {
    for (const recording of parseRecordings(readFileSync(file))) {
      found.recordings.push({ file, it: { recording, report: reportOfRecording(recording) } })
    }
  } else if (file.endsWith('.json')) takeDocument(file, found)
  else if (/\.(?:jsonl|log)$/.test(file)) takeLog(file, found)
  else if (/\.(?:db|sqlite3?|ledger)$/.test(file)) takeLedger(file, found)
}

function takeDocument(file: string, found: Mutable): void {
  if (statSync(file).size > MOST_BYTES) return
  let it: unknown
  try {
    it = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // A file of JSON that is none of ours may be anything.
    return
  }
  if (typeof it !== 'object' || it === null || !('schema' in it)) return
  if (it.schema === VERIFY_SCHEMA) found.verifications.push({ file, it: it as unknown as VerifyDocument })
  else if (it.schema === CAPABILITIES_SCHEMA) found.capabilities.push({ file, it: it as unknown as CapabilityRecord })
  else if (it.schema === PATH_SCHEMA) found.paths.push({ file, it: it as unknown as PathDocument })
}

function takeLog(file: string, found: Mutable): void {
  if (statSync(file).size > MOST_BYTES) return
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line): readonly LogLine[] => {
      try {
        const value: unknown = JSON.parse(line)
        return isLogLine(value) ? [value] : []
      } catch {
        return []
      }
    })
  if (lines.length > 0) found.logs.push({ file, it: lines })
}

function isLogLine(value: unknown): value is LogLine {
  return (
    typeof value === 'object' &&
    value !== null &&
    'attempt' in value &&
    typeof value.attempt === 'number' &&
    'tool_validation_result' in value
  )
}

/** The statements that made its tables stand in the file as text; what was written last may still be beside it. */
function takeLedger(file: string, found: Mutable): void {
  const bytes = readFileSync(file)
  if (bytes.subarray(0, 15).toString('latin1') !== 'SQLite format 3') return
  const all = [bytes, ...(existsSync(`${file}-wal`) ? [readFileSync(`${file}-wal`)] : [])]
  const tables = LEDGER_TABLES.filter((table) => all.some((part) => part.includes(table)))
  if (tables.length > 0) found.ledgers.push({ file, it: tables })
}

function isVerified(sample: GoldenSample, { it }: Found<VerifyDocument>): boolean {
  return it.samples.some(
    ({ name, file, failures, unexpected }) =>
      failures.length === 0 &&
      !unexpected &&
      (resolve(file) === resolve(sample.file) || (name === sample.name && basename(file) === basename(sample.file))),
  )
}
