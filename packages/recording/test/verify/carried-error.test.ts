import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ReplaySyntaxError } from '../../src/replay/replay-syntax-error.ts'
import { carriedError, errorOf } from '../../src/verify/carried-error.ts'
import { SampleError } from '../../src/verify/sample-error.ts'
import { temporaryFolder } from './temporary-folder.ts'

const BUILT = new URL('../../dist/verify/', import.meta.url).href

/** As it comes out on the other side of a message between threads. */
const carried = (error: unknown): Error => errorOf(structuredClone(carriedError(error)))

describe('an error that went from one thread to another', () => {
  test('about a sample', () => {
    const error = carried(new SampleError('a/b.sse', 'no such file'))
    expect(error).toBeInstanceOf(SampleError)
    expect(error).toMatchObject({ message: 'a/b.sse: no such file', file: 'a/b.sse', reason: 'no such file' })
  })

  test('about a plan or a fault', () => {
    const error = carried(new ReplaySyntaxError('"x" is no HTTP status'))
    expect(error).toBeInstanceOf(ReplaySyntaxError)
    expect(error.message).toBe('"x" is no HTTP status')
  })

  test('of the system keeps its code, a mistake of ours its name and stack', () => {
    expect(carried(Object.assign(new Error('disk'), { code: 'EIO' }))).toMatchObject({ message: 'disk', code: 'EIO' })
    const mistake = new TypeError('x is not a function')
    expect(carried(mistake)).toMatchObject({ name: 'TypeError', message: mistake.message, stack: mistake.stack })
  })

  test('that is no error', () => {
    expect(carried('thrown')).toMatchObject({ name: 'Error', message: 'thrown' })
  })
})

test('a thread that meets a file which has gone says so, in the words and the class of the main one', async () => {
  // Built (`npm run build`), and in a process without our conditions: a thread can't load sources.
  const script = `
    import { checkInWorkers } from '${BUILT}check-in-workers.js'
    import { SampleError } from '${BUILT}sample-error.js'
    const sample = { name: 'gone', file: '/no/such/gone.sse', recording: { reads: [] } }
    const error = await checkInWorkers([{ sample, fates: {} }], { plans: [], faults: [] }, 2, () => {}).catch((e) => e)
    const { message, file, reason } = error
    console.log(JSON.stringify({ ours: error instanceof SampleError, message, file, reason }))`
  const folder = temporaryFolder()
  folder.write('gone.mjs', script)
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder.path, 'gone.mjs')], { env: {} })
  expect(JSON.parse(stdout)).toEqual({
    ours: true,
    message: '/no/such/gone.sse: no such file',
    file: '/no/such/gone.sse',
    reason: 'no such file',
  })
})
