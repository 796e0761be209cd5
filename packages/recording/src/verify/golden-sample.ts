import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { APIS, detectApi } from 'streamfold'
import type { Api, RequestFacts } from 'streamfold'
import { looksLikeRecording, RecordingError, requestFactsOf } from 'streamfold/recording'
import type { Recording } from 'streamfold/recording'
import { inflatedBytes } from '../file/gzip.ts'
import { parseRecordings } from '../file/recording-file.ts'
import { unreadableReason } from '../file/unreadable-reason.ts'
import { foreignFormatOf } from '../import/import-recordings.ts'
import { bodyOf, recordingOfBody } from '../replay/replay-script.ts'
import { FATES_FILE } from './accepted-fates.ts'
import type { ExpectedFile, SampleOptions } from './expected-file.ts'
import { SampleError } from './sample-error.ts'

/** A recorded stream, or a bare body, and what must come of it. */
export interface GoldenSample {
  /** Path from the folder that was asked for, without the extension. */
  readonly name: string
  readonly file: string
  readonly kind: 'body' | 'recording'
  readonly api: Api
  /** Facts of the recorded request, and those of the expected file. */
  readonly request: RequestFacts
  readonly options: SampleOptions
  readonly recording: Recording
  /** Where the expected file is, or would be. */
  readonly expectedFile: string
  /** Absent where nobody has said yet what must come of it. */
  readonly expected?: ExpectedFile
}

export const EXPECTED_EXTENSION = '.expected.json'
const EXTENSIONS = ['.stream.jsonl.gz', '.stream.jsonl', '.eventstream', '.ndjson', '.json', '.sse', '.txt']

/**
 * Samples of files and folders; a folder is searched at whatever depth for `.stream.jsonl` (`.gz`), `.sse`, `.ndjson`, `.json`,
 * `.eventstream` and `.txt`. What must come of `NAME.sse` is in `NAME.expected.json` beside it.
 *
 * @throws SampleError for a file that is missing, corrupt, or of a wire format that nothing tells
 */
export function readSamples(paths: readonly string[]): readonly GoldenSample[] {
  return paths.flatMap((path) => {
    if (!existsSync(path)) throw new SampleError(path, 'no such file or folder')
    if (!statSync(path).isDirectory()) return [readSample(path, basename(path))]
    const files = readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && extensionOf(entry.name) !== undefined)
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
    return files.map((file) => readSample(file, relative(path, file).replaceAll('\\', '/')))
  })
}

/** By its name, a file may be a sample. */
export function isSampleFile(file: string): boolean {
  return extensionOf(basename(file)) !== undefined
}

function extensionOf(file: string): string | undefined {
  if (file.endsWith(EXPECTED_EXTENSION) || file === FATES_FILE) return undefined
  return EXTENSIONS.find((extension) => file.endsWith(extension))
}

/** @throws SampleError */
export function readSample(file: string, name: string = basename(file)): GoldenSample {
  const extension = extensionOf(file) ?? ''
  const stem = basename(file).slice(0, basename(file).length - extension.length)
  const expectedFile = join(dirname(file), `${stem}${EXPECTED_EXTENSION}`)
  const bytes = readBytes(file)
  const isRecording = looksLikeRecording(bytes) || extension.startsWith('.stream.jsonl')
  const foreign = isRecording ? undefined : foreignFormatOf(bytes)
  if (foreign !== undefined)
    throw new SampleError(file, `it is ${foreign}, no body; streamfold import makes a recording of it`)
  const recording = isRecording ? readOne(bytes, file) : recordingOfBody(bytes)
  const expected = existsSync(expectedFile) ? readExpected(expectedFile) : undefined
  return {
    name: name.slice(0, name.length - extension.length),
    file,
    kind: isRecording ? 'recording' : 'body',
    api: apiOf(recording, expected, file),
    request: { ...requestFactsOf(recording.request), ...expected?.request },
    options: expected?.options ?? {},
    recording,
    expectedFile,
    ...(expected !== undefined && { expected }),
  }
}

function readBytes(file: string): Uint8Array {
  try {
    return inflatedBytes(readFileSync(file))
  } catch (error) {
    throw new SampleError(file, unreadableReason(error))
  }
}

function readOne(bytes: Uint8Array, file: string): Recording {
  try {
    const recordings = parseRecordings(bytes)
    if (recordings.length === 1) return recordings[0]!
    throw new SampleError(file, `it holds ${recordings.length} exchanges; a sample is one`)
  } catch (error) {
    throw error instanceof RecordingError ? new SampleError(file, error.message) : error
  }
}

function readExpected(file: string): ExpectedFile {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ExpectedFile
  } catch (error) {
    throw new SampleError(file, unreadableReason(error))
  }
}

/** What the expected file says, else the recording, else its URL, else the body. */
function apiOf(recording: Recording, expected: ExpectedFile | undefined, file: string): Api {
  const url = recording.request?.url
  const name =
    expected?.report?.api ??
    recording.head.api ??
    detectApi({ ...(url !== undefined && { url }), body: bodyOf({ writes: recording.reads }) })?.api ??
    'chat_completions'
  const api = APIS.find((known) => known === name)
  if (api === undefined) throw new SampleError(file, `the format is "${name}", which this version can't read`)
  return api
}
