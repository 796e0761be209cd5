import { open, readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { readRecordings, writeRecordings } from 'streamfold/recording'
import type { LineToWrite, Recording } from 'streamfold/recording'
import { refuseDevice } from './device-name.ts'
import { inflatedBytes } from './gzip.ts'
import { runningSha256, sha256Of } from './sha256.ts'

/** For the owner only: what goes over the wire is private. */
export const PRIVATE_FILE = 0o600

/**
 * The recordings in the bytes of a file, inflated where they are gzip. A gzip file that was cut gives what is there.
 *
 * @throws RecordingError for a corrupt recording, its hash included; Error for gzip that can't be inflated
 */
export function parseRecordings(bytes: Uint8Array): readonly Recording[] {
  return readRecordings(inflatedBytes(bytes), { sha256: sha256Of })
}

/** As {@link parseRecordings}, for a file by name. */
export async function readRecordingFile(path: string): Promise<readonly Recording[]> {
  return parseRecordings(await readFile(path))
}

/** The text of a file, with hashes. */
export function formatRecordings(recordings: readonly { readonly lines: readonly LineToWrite[] }[]): string {
  return writeRecordings(recordings, { sha256: runningSha256 })
}

/**
 * Writes a recording, or any text made of one, as gzip where the name ends in `.gz`; readable by its owner only.
 *
 * @throws Error `EEXIST` for a file that exists, unless `overwrite` is set; `EINVAL` for the name of a device, on Windows
 */
export async function writePrivateFile(
  path: string,
  text: string | Uint8Array,
  { overwrite = false }: { readonly overwrite?: boolean } = {},
): Promise<void> {
  refuseDevice(path)
  const file = await open(path, overwrite ? 'w' : 'wx', PRIVATE_FILE)
  try {
    // The mode above is for a new file only.
    if (overwrite) await file.chmod(PRIVATE_FILE)
    await file.writeFile(path.endsWith('.gz') ? gzipSync(text) : text)
  } finally {
    await file.close()
  }
}
