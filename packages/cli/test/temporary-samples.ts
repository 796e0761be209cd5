import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A folder with these files, gone after the tests of the file. */
export function temporarySamples(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'streamfold-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}
