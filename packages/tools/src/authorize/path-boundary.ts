import { lstat, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, parse, relative, sep } from 'node:path'
import { ResourceError } from './resource-error.ts'

const SEPARATORS = sep === '\\' ? /[\\/]+/ : /\/+/

/**
 * The real place a path leads to, if that is `root` or below it. The path is walked as the system walks it: a symbolic link is
 * followed before a `..` behind it counts. What does not exist yet may be named; a link to nothing may not, for writing
 * through it would create its target.
 *
 * Between this answer and the use of the path someone may put a link in its place. A tool should open the path that comes back
 * (not the one it was given), with `O_NOFOLLOW` where it can; the gate asks again right before the execution.
 *
 * @throws ResourceError when it leads out, or can't be followed
 */
export async function pathInside(root: string, path: string): Promise<string> {
  if (path === '') throw new ResourceError('path', 'it is empty')
  if (path.includes('\0')) throw new ResourceError('path', 'it holds a NUL character')
  const realRoot = await realRootOf(root)
  const start = isAbsolute(path) ? parse(path).root : realRoot
  const steps = path.slice(isAbsolute(path) ? start.length : 0).split(SEPARATORS)
  if (sep === '\\' && steps.some((step) => step.includes(':'))) {
    throw new ResourceError('path', 'it names a drive or a stream')
  }

  let place = start
  let exists = true
  for (const step of steps) {
    if (step === '' || step === '.') continue
    if (step === '..') {
      if (!exists) throw new ResourceError('path', 'it goes back from a directory that is not there')
      place = dirname(place)
      continue
    }
    place = join(place, step)
    if (!exists) continue
    const kind = await kindOf(place)
    if (kind === 'nothing') exists = false
    else if (kind === 'link') place = await follow(place)
  }

  const from = relative(realRoot, place)
  if (from === '..' || from.startsWith(`..${sep}`) || isAbsolute(from)) {
    throw new ResourceError('path', 'it leads outside of its root')
  }
  return place
}

async function realRootOf(root: string): Promise<string> {
  if (!isAbsolute(root)) throw new ResourceError('path', 'the root of its boundary is not an absolute path')
  try {
    return await realpath(root)
  } catch (error) {
    throw new ResourceError('path', 'the root of its boundary is not there', { cause: error })
  }
}

async function kindOf(place: string): Promise<'nothing' | 'link' | 'other'> {
  try {
    return (await lstat(place)).isSymbolicLink() ? 'link' : 'other'
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'nothing'
    throw new ResourceError('path', `it can't be followed (${codeOf(error)})`, { cause: error })
  }
}

async function follow(link: string): Promise<string> {
  try {
    return await realpath(link)
  } catch (error) {
    const why =
      codeOf(error) === 'ENOENT'
        ? 'a link in it points to nothing'
        : `a link in it can't be followed (${codeOf(error)})`
    throw new ResourceError('path', why, { cause: error })
  }
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown error'
}
