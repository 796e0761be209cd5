import { makePrivate } from './private-file.ts'
import type { SqliteEngine, SqliteFile } from './sqlite-engine.ts'
import { sqliteError } from './sqlite-error.ts'
import { StoreError } from './store-error.ts'

// The operating system's file locks do not hold between two SQLite libraries in one process, nor do two installed copies of
// this package see each other's variables.
const HELD_FILES: unique symbol = Symbol.for('streamfold.heldFiles')
const everywhere: typeof globalThis & { [HELD_FILES]?: Set<string> } = globalThis
const HELD = (everywhere[HELD_FILES] ??= new Set<string>())

const POLL_MS = 25

/**
 * Takes the right to write to `place`, a real path, until `release`, or until this process ends, however it ends. The lock is on a file
 * beside it, so that others can still read the database itself. The lock file stays: were it removed, one process could lock the
 * file that is gone, and the next the one that took its name.
 * @throws {StoreError} `locked` when another process, or this one, has it for longer than `waitMs`
 */
export async function lockFile(engine: SqliteEngine, place: string, waitMs: number): Promise<{ release(): void }> {
  const until = Date.now() + waitMs
  for (;;) {
    if (!HELD.has(place)) {
      const file = tryLock(engine, `${place}-lock`)
      if (file !== undefined) {
        HELD.add(place)
        return {
          release() {
            if (HELD.delete(place)) file.close()
          },
        }
      }
    }
    if (Date.now() >= until) throw new StoreError('locked', HELD.has(place) ? openHere(place) : openElsewhere(place))
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

function openHere(place: string): string {
  return `this process has ${place} open already; share that store (it serves any number of executors), or close it first`
}

function openElsewhere(place: string): string {
  return (
    `${place} is in use by another process; the embedded store serves one process at a time. ` +
    'Stop the other one, open the file with readOnly, or use PostgreSQL to share it.'
  )
}

function tryLock(engine: SqliteEngine, path: string): SqliteFile | undefined {
  makePrivate(path)
  const file = engine.open(path, { readOnly: false })
  try {
    file.exec('begin exclusive')
    return file
  } catch (cause) {
    file.close()
    const error = sqliteError(cause)
    if (error.code === 'locked') return undefined
    throw error
  }
}
