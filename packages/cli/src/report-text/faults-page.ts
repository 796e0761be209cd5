import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Path of the page on faults, from the working directory where it is below that: in a clone the page itself, else the copy in the library. */
export function faultsPage(
  libraryEntry: string = fileURLToPath(import.meta.resolve('streamfold')),
  workingDirectory: string = process.cwd(),
): string {
  const library = dirname(dirname(libraryEntry))
  const inClone = join(dirname(dirname(library)), 'docs/faults.md')
  const installed = library.split(sep).includes('node_modules')
  const page = !installed && existsSync(inClone) ? inClone : join(library, 'docs/faults.md')
  const short = relative(workingDirectory, page)
  return short.startsWith('..') || isAbsolute(short) ? page : short
}
