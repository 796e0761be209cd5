import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach } from 'vitest'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

export interface TemporaryFolder {
  readonly path: string
  write(name: string, text: string): string
  read(name: string): string
}

/** A folder that is gone after the test. */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'streamfold-'))
  folders.push(path)
  return {
    path,
    write: (name, text) => {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), text)
      return join(path, name)
    },
    read: (name) => readFileSync(join(path, name), 'utf8'),
  }
}
