import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Api } from '../../src/adapters/index.ts'
import type { RequestFacts } from '../../src/chunk/index.ts'
import { readRecordings, requestFactsOf } from '../../src/recording/index.ts'
import type { Recording } from '../../src/recording/index.ts'
import { CLASSES } from './intent.ts'
import type { Intent } from './intent.ts'

/** One file of the corpus beside what is written about it. */
export interface Sample {
  /** Folder and file name without the extension. */
  readonly name: string
  readonly class: number
  readonly api: Api
  readonly kind: 'body' | 'recording'
  readonly intent: Intent
  /** Facts of the recorded request, and those of the intent. */
  readonly request: RequestFacts
  /** A bare body is a recording of one read without times. */
  readonly recording: Recording
  readonly expectedFile: string
}

const FOLDER = fileURLToPath(new URL('../../../../corpus/', import.meta.url))
const EXPECTED = '.expected.json'
const RECORDING = '.stream.jsonl'
const EXTENSIONS: readonly string[] = ['.sse', '.ndjson', '.json', '.eventstream', RECORDING]

/** Folders that hold files, at whatever depth. */
export function listFolders(): readonly string[] {
  const files = readdirSync(FOLDER, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
  const folders = new Set(files.map(({ parentPath }) => relative(FOLDER, parentPath).replaceAll('\\', '/')))
  folders.delete('')
  return [...folders]
}

/** Files of one class: samples by name, and the names that have an expected file. */
export function listFiles(folder: string): {
  readonly samples: ReadonlyMap<string, string>
  readonly expected: readonly string[]
} {
  const samples = new Map<string, string>()
  const expected: string[] = []
  const entries = existsSync(FOLDER + folder) ? readdirSync(FOLDER + folder, { withFileTypes: true }) : []
  for (const { name: file } of entries.filter((entry) => entry.isFile())) {
    const extension = file.endsWith(EXPECTED) ? EXPECTED : EXTENSIONS.findLast((known) => file.endsWith(known))
    if (extension === undefined) throw new Error(`${folder}/${file} is no kind of sample`)
    const name = file.slice(0, -extension.length)
    if (extension === EXPECTED) expected.push(name)
    else if (samples.has(name)) throw new Error(`${folder}/${name} is there twice`)
    else samples.set(name, `${FOLDER}${folder}/${file}`)
  }
  return { samples, expected }
}

export function readSamples(): readonly Sample[] {
  return CLASSES.flatMap(({ folder, api, intents }, i) => {
    const { samples } = listFiles(folder)
    return Object.entries(intents).map(([name, intent]) => {
      const path = samples.get(name)
      if (path === undefined) throw new Error(`no file for the intent ${folder}/${name}`)
      const bytes = readFileSync(path)
      const kind = path.endsWith(RECORDING) ? ('recording' as const) : ('body' as const)
      const recording = kind === 'body' ? recordingOf(bytes) : readRecordings(bytes)[0]!
      return {
        name: `${folder}/${name}`,
        class: i + 1,
        api,
        kind,
        intent,
        request: { ...requestFactsOf(recording.request), ...intent.request },
        recording,
        expectedFile: `${FOLDER}${folder}/${name}${EXPECTED}`,
      }
    })
  })
}

function recordingOf(bytes: Uint8Array): Recording {
  return {
    head: { t: 'head', line: 1, version: 1, body: 'decoded', timing: 'none' },
    reads: [{ t: 'b', line: 2, atUs: 0, offset: 0, bytes }],
    end: { t: 'end', line: 3, atUs: 0, kind: 'complete' },
    lines: [],
  }
}

export function bodyOf({ recording }: Sample): Uint8Array {
  return Uint8Array.from(recording.reads.flatMap(({ bytes }) => [...bytes]))
}
