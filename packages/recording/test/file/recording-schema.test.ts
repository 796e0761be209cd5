import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { RecordingError, readRecordings } from 'streamfold/recording'
import { formatRecordings, parseRecordings } from '../../src/file/recording-file.ts'
import { redactRecording } from '../../src/redact/redact-recording.ts'
import { sampleText } from '../export/sample.ts'

/** The schema that is shipped with the library, beside its reader. */
const folder = new URL('../../../core/schema/', import.meta.url)
const schema = JSON.parse(readFileSync(new URL('recording.schema.json', folder), 'utf8')) as object
const validate = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true }).compile(
  schema,
)
const errorsOf = (line: string): unknown => (validate(JSON.parse(line)) ? [] : validate.errors)

test('is the only one there', () => {
  expect(readdirSync(folder)).toEqual(['recording.schema.json'])
})

test('every line that is written keeps to it', () => {
  const redacted = formatRecordings(
    parseRecordings(Buffer.from(sampleText())).map((one) => redactRecording(one, { fields: ['a'] })),
  )
  const untimed = formatRecordings([
    {
      lines: [
        { t: 'head', timing: 'none' },
        { t: 'b', atUs: 0, bytes: Uint8Array.of(0xff) },
      ],
    },
  ])
  for (const line of `${sampleText()}${redacted}${untimed}`.trimEnd().split('\n')) expect(errorsOf(line)).toEqual([])
})

describe('what the reader refuses, the schema refuses', () => {
  const HEAD = '{"t":"head","format":"streamfold/recording","v":1}'
  test.each([
    { name: 'another format', line: '{"t":"head","format":"x","v":1}' },
    { name: 'a newer version', line: '{"t":"head","format":"streamfold/recording","v":2}' },
    { name: 'no type', line: '{"at":1}' },
    { name: 'text and base64', line: '{"t":"b","at":1,"off":0,"s":"a","x":"YQ=="}' },
    { name: 'neither', line: '{"t":"b","at":1,"off":0}' },
    { name: 'a negative time', line: '{"t":"b","at":-1,"off":0,"s":"a"}' },
    { name: 'a status that is none', line: '{"t":"res","at":1,"status":99,"headers":[]}' },
    { name: 'a header that is no pair', line: '{"t":"res","at":1,"status":200,"headers":[["a"]]}' },
    { name: 'an unknown end', line: '{"t":"end","at":1,"kind":"eof"}' },
    { name: 'an unknown timing', line: '{"t":"head","format":"streamfold/recording","v":1,"timing":"often"}' },
  ])('$name', ({ line }) => {
    expect(errorsOf(line)).not.toEqual([])
    expect(() => readRecordings(line.includes('"head"') ? `${line}\n` : `${HEAD}\n${line}\n`)).toThrow(RecordingError)
  })

  test('what both take: unknown lines and keys', () => {
    for (const line of ['{"t":"ws","dir":"in"}', '{"t":"b","at":1,"off":0,"s":"a","hc":1}']) {
      expect(errorsOf(line)).toEqual([])
      expect(readRecordings(`${HEAD}\n${line}\n`)).toHaveLength(1)
    }
  })
})
