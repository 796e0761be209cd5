import { expect } from 'vitest'
import type { Recording } from 'streamfold/recording'
import { formatRecordings, parseRecordings } from '../../src/file/recording-file.ts'
import { recordedBody } from '../../src/file/recording-report.ts'
import { ImportError } from '../../src/import/import-error.ts'
import { importRecordings } from '../../src/import/import-recordings.ts'
import type { ImportOptions } from '../../src/import/import-recordings.ts'

export async function importAll(file: string | Uint8Array, options: ImportOptions = {}): Promise<readonly Recording[]> {
  const { recordings } = await importRecordings(Buffer.from(file as string), options)
  return parseRecordings(Buffer.from(formatRecordings(recordings)))
}

export async function importOne(file: string | Uint8Array, options: ImportOptions = {}): Promise<Recording> {
  const all = await importAll(file, options)
  expect(all).toHaveLength(1)
  return all[0]!
}

export const textOf = (recording: Recording): string => Buffer.from(recordedBody(recording)).toString()
export const readsOf = ({ reads }: Recording): readonly (readonly [number, string])[] =>
  reads.map(({ atUs, bytes }) => [atUs, Buffer.from(bytes).toString()] as const)

export async function failure(file: string | Uint8Array, options: ImportOptions = {}): Promise<ImportError> {
  try {
    await importAll(file, options)
  } catch (error) {
    if (error instanceof ImportError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
