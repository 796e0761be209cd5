import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { isDeviceName, portableName } from '../../src/file/device-name.ts'
import { writePrivateFile } from '../../src/file/recording-file.ts'
import { fileSink } from '../../src/record/recording-sink.ts'

const folder = mkdtempSync(join(tmpdir(), 'streamfold-device-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function pretend(platform: NodeJS.Platform): void {
  const real = Object.getOwnPropertyDescriptor(process, 'platform')!
  Object.defineProperty(process, 'platform', { ...real, value: platform })
  onTestFinished(() => void Object.defineProperty(process, 'platform', real))
}

test.each([
  'CON',
  'con',
  'nul',
  'Aux.stream.jsonl',
  'prn.v1.stream.jsonl.gz',
  'COM1',
  'com0.har',
  'LPT9.html',
  'com¹',
  'CONIN$',
  'conout$.txt',
  'nul .txt',
  'nul:',
  'folder/con.stream.jsonl',
  'C:\\recordings\\lpt1.stream.jsonl',
])('%s is a device', (name) => {
  expect(isDeviceName(name)).toBe(true)
})

test.each([
  'console.stream.jsonl',
  'con-1.stream.jsonl',
  '_con.stream.jsonl',
  'com10.stream.jsonl',
  'com',
  'a.con',
  'con/a.stream.jsonl',
  '2026-12-01T00-00-00-con-1234.stream.jsonl',
])('%s is a file', (name) => {
  expect(isDeviceName(name)).toBe(false)
  expect(portableName(name)).toBe(name)
})

test('a name that is made of something else gets out of the way', () => {
  expect(portableName('con.v1--byte-by-byte')).toBe('_con.v1--byte-by-byte')
  expect(isDeviceName(portableName('con'))).toBe(false)
})

describe('a name that somebody gave', () => {
  const path = join(folder, 'nul.stream.jsonl')

  test('is refused on Windows, before anything is written', async () => {
    pretend('win32')
    await expect(writePrivateFile(path, 'x')).rejects.toMatchObject({
      code: 'EINVAL',
      message: `${path} names a device of Windows, not a file; take another name`,
    })
    expect(() => fileSink(path)).toThrow(/names a device of Windows/)
    expect(existsSync(path)).toBe(false)
  })

  test('is a file elsewhere', async () => {
    pretend('linux')
    await writePrivateFile(path, 'x')
    expect(existsSync(path)).toBe(true)
  })
})
