import { closeSync, lstatSync, openSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { StoreError } from './store-error.ts'

/**
 * The one path of a file that may not be there yet, whichever links lead to it: what is locked under two names is not locked.
 * @throws {StoreError} `unavailable` for a link to nothing
 */
export function realPlace(path: string): string {
  const place = join(realpathSync(dirname(resolve(path))), basename(path))
  const found = lstatSync(place, { throwIfNoEntry: false })
  if (found === undefined) return place
  try {
    return realpathSync(place)
  } catch (cause) {
    throw new StoreError('unavailable', `${place} is a link that can't be followed`, { cause })
  }
}

/**
 * Makes the file for its owner alone when it is not there: it will hold arguments and results. SQLite gives its log the same
 * rights. A file that is there keeps what it has, and is not even opened: closing it would drop this process's locks on it.
 */
export function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
