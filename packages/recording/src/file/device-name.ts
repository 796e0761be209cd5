import { basename, win32 } from 'node:path'

// Matched up to the first dot: to Windows `con.stream.jsonl` is the console as well. Blanks and a colon behind the name change nothing.
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])[ :]*(?:\.|$)/i

/**
 * Is this, in whatever folder, a name under which Windows has a device? What is written there is no file.
 *
 * @see https://learn.microsoft.com/windows/win32/fileio/naming-a-file
 */
export function isDeviceName(path: string): boolean {
  return DEVICE.test(basename(win32.basename(path)))
}

/** A name for a file, made of something else, that is that of a file everywhere. */
export function portableName(name: string): string {
  return isDeviceName(name) ? `_${name}` : name
}

/**
 * A recording that goes into a device is lost, and nobody is told.
 *
 * @throws Error `EINVAL`, on Windows
 */
export function refuseDevice(path: string): void {
  if (process.platform !== 'win32' || !isDeviceName(path)) return
  throw Object.assign(new Error(`${path} names a device of Windows, not a file; take another name`), { code: 'EINVAL' })
}
