import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pathInside } from '../../src/authorize/path-boundary.ts'
import { ResourceError } from '../../src/authorize/resource-error.ts'

let base = ''
let root = ''

// base/ws (the root)  base/ws-evil/x  base/outside/deep  base/ws/sub/file
// links in the root: out → outside, deep → outside/deep, gone → nothing, loop → loop, back → sub, self → .
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'path-boundary-')))
  root = join(base, 'ws')
  for (const folder of ['ws/sub', 'ws-evil', 'outside/deep']) mkdirSync(join(base, folder), { recursive: true })
  for (const file of ['ws/sub/file', 'ws-evil/x', 'outside/secret']) writeFileSync(join(base, file), '')
  symlinkSync(join(base, 'outside'), join(root, 'out'))
  symlinkSync(join(base, 'outside/deep'), join(root, 'deep'))
  symlinkSync(join(base, 'outside/not-yet'), join(root, 'gone'))
  symlinkSync('loop', join(root, 'loop'))
  symlinkSync('sub', join(root, 'back'))
  symlinkSync(root, join(base, 'ws-link'))
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

describe('inside', () => {
  test.each([
    ['.', ''],
    ['sub/file', 'sub/file'],
    ['./sub//file', 'sub/file'],
    ['sub/../sub/file', 'sub/file'],
    ['../ws/sub', 'sub'],
    ['back/file', 'sub/file'],
    ['back/../sub', 'sub'],
    ['new/folder/file', 'new/folder/file'],
    ['..hidden', '..hidden'],
    ['sub/..name', 'sub/..name'],
  ])('%s', async (path, place) => {
    expect(await pathInside(root, path)).toBe(join(root, place))
  })

  test('an absolute path, and one through a link to the root', async () => {
    expect(await pathInside(root, join(root, 'sub/file'))).toBe(join(root, 'sub/file'))
    expect(await pathInside(join(base, 'ws-link'), 'sub/file')).toBe(join(root, 'sub/file'))
    expect(await pathInside(root, join(base, 'ws-link/sub'))).toBe(join(root, 'sub'))
  })
})

describe('outside', () => {
  test.each([
    ['..', 'outside of its root'],
    ['../ws-evil/x', 'outside of its root'],
    ['sub/../../outside/secret', 'outside of its root'],
    ['/etc/passwd', 'outside of its root'],
    ['//etc/passwd', 'outside of its root'],
    ['out/secret', 'outside of its root'],
    ['out', 'outside of its root'],
    // By its letters this is ws/x; the system follows the link first and ends in outside/x.
    ['deep/../x', 'outside of its root'],
    ['gone', 'points to nothing'],
    ['gone/file', 'points to nothing'],
    ['loop', "can't be followed (ELOOP)"],
    ['new/../../x', 'not there'],
    ['sub/file/x', "can't be followed (ENOTDIR)"],
    ['sub\0/../../etc', 'NUL'],
    ['', 'empty'],
  ])('%j', async (path, why) => {
    await expect(pathInside(root, path)).rejects.toThrow(ResourceError)
    await expect(pathInside(root, path)).rejects.toThrow(why)
  })

  test('a root that is not there, or not absolute', async () => {
    await expect(pathInside(join(base, 'nowhere'), 'x')).rejects.toThrow('not there')
    await expect(pathInside('ws', 'x')).rejects.toThrow('not an absolute path')
  })

  test('the message does not repeat the path', async () => {
    const thrown = await pathInside(root, '../secret-name').catch((error: unknown) => error)
    expect(String(thrown)).not.toContain('secret-name')
  })
})
