import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { parseRecordings, readRecordingFile, writePrivateFile } from '../../src/file/recording-file.ts'
import { sampleText } from '../export/sample.ts'

const folder = mkdtempSync(join(tmpdir(), 'streamfold-file-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('gzip and plain, by what is in it', async () => {
  const plain = join(folder, 'a.stream.jsonl')
  const zipped = join(folder, 'a.stream.jsonl.gz')
  await writePrivateFile(plain, sampleText())
  await writePrivateFile(zipped, sampleText())
  expect(readFileSync(plain, 'utf8')).toBe(sampleText())
  expect([...readFileSync(zipped).subarray(0, 2)]).toEqual([0x1f, 0x8b])
  expect(await readRecordingFile(zipped)).toEqual(await readRecordingFile(plain))
})

test('gzip that was cut gives what is there', () => {
  const zipped = gzipSync(sampleText(), { level: 0 })
  const [recording] = parseRecordings(zipped.subarray(0, zipped.length - 200))
  expect(recording!.end).toBeUndefined()
  expect(recording!.response!.status).toBe(200)
})

test('gzip laid behind gzip is two exchanges', () => {
  expect(parseRecordings(Buffer.concat([gzipSync(sampleText()), gzipSync(sampleText())]))).toHaveLength(2)
})

test('the hash is checked', () => {
  const changed = sampleText().replace(/"sha256":"[0-9a-f]{64}"/, `"sha256":"${'0'.repeat(64)}"`)
  expect(() => parseRecordings(Buffer.from(changed))).toThrow(/"sha256" is 0+, that of the reads is 7a75bd18/)
})

test('for the owner only, and not over another file unless told so', async () => {
  const file = join(folder, 'b.stream.jsonl')
  writeFileSync(file, 'before')
  chmodSync(file, 0o644)
  await expect(writePrivateFile(file, 'x')).rejects.toThrow(/EEXIST/)
  await writePrivateFile(file, 'after', { overwrite: true })
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['after', 0o600])
})
