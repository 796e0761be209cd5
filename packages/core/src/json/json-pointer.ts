import { clip } from './clip.ts'

/**
 * JSON Pointer of the place that `path` leads to (keys of objects, indexes of arrays), fit for a message: at most `max`
 * UTF-16 units and unprintable characters as escapes, so a clipped or escaped pointer is for reading only.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6901
 */
export function jsonPointer(path: readonly (string | number)[], max: number): string {
  let pointer = ''
  for (const step of path) {
    // Longer than `max` is clipped anyway; taking no more of a hostile key than that bounds the work.
    const key = typeof step === 'number' ? String(step) : step.slice(0, max + 1)
    pointer += `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (pointer.length > max) break
  }
  return clip(pointer, max)
}
