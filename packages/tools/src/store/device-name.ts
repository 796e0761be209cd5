import { basename, win32 } from 'node:path'
import { StoreError } from './store-error.ts'

// Matched up to the first dot: to Windows `nul.db` is the null device as well. Blanks and a colon behind the name change nothing.
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])[ :]*(?:\.|$)/i

/**
 * A ledger in a device would forget everything at once.
 *
 * @see https://learn.microsoft.com/windows/win32/fileio/naming-a-file
 * @throws {StoreError} `invalid_url`, on Windows, for a name under which it has a device
 */
export function refuseDevice(path: string): void {
  if (process.platform !== 'win32' || !DEVICE.test(basename(win32.basename(path)))) return
  throw new StoreError('invalid_url', `${path} names a device of Windows, not a file; take another name`)
}
