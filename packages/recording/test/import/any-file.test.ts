import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RecordingError } from 'streamfold/recording'
import { toHar } from '../../src/export/har.ts'
import { toHtml } from '../../src/export/html.ts'
import { formatRecordings, parseRecordings } from '../../src/file/recording-file.ts'
import { ImportError } from '../../src/import/import-error.ts'
import { IMPORT_FORMATS, importRecordings } from '../../src/import/import-recordings.ts'
import { redactRecording } from '../../src/redact/redact-recording.ts'
import { BODY, sample, sampleText } from '../export/sample.ts'

const SEED = 20261130

const TRACE = [
  '15:02:55.000001 => Send header, 35 bytes (0x23)',
  '0000: 47 45 54 20 2f 20 48 54 54 50 2f 31 2e 31 0d 0a GET / HTTP/1.1..',
  '0010: 48 6f 73 74 3a 20 61 2e 65 78 61 6d 70 6c 65 0d Host: a.example.',
  '0020: 0a 0d 0a                                        ...',
  '15:02:55.000002 <= Recv header, 17 bytes (0x11)',
  '0000: 48 54 54 50 2f 31 2e 31 20 32 30 30 20 4f 4b 0d HTTP/1.1 200 OK.',
  '0010: 0a                                              .',
  '15:02:55.000003 <= Recv header, 2 bytes (0x2)',
  '0000: 0d 0a                                           ..',
  '15:02:55.000004 <= Recv data, 9 bytes (0x9)',
  '0000: 64 61 74 61 3a 20 31 0a 0a                      data: 1..',
].join('\n')

const FILES: readonly string[] = [
  sampleText(),
  `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${BODY}`,
  TRACE,
  toHar([sample()]),
  toHtml([sample()]),
  '{"type":"message_start"}\n{"type":"message_stop"}\n',
  BODY,
]

/** Some bytes of a file replaced, left out or doubled. */
const broken = fc
  .tuple(
    fc.constantFrom(...FILES),
    fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(2), fc.nat(255)), { maxLength: 6 }),
  )
  .map(([file, edits]) => {
    let bytes = Buffer.from(file)
    for (const [share, kind, byte] of edits) {
      const at = Math.floor(share * bytes.length)
      const rest = bytes.subarray(kind === 1 ? at + byte : kind === 2 ? Math.max(0, at - byte) : at + 1)
      bytes = Buffer.concat([bytes.subarray(0, at), kind === 0 ? Buffer.of(byte) : Buffer.alloc(0), rest])
    }
    return bytes
  })

test('whatever the file: a recording that can be read, or a reason with its place', async () => {
  let read = 0
  let refused = 0
  await fc.assert(
    fc.asyncProperty(broken, fc.constantFrom(undefined, ...IMPORT_FORMATS), async (bytes, from) => {
      const outcome = await importRecordings(bytes, from === undefined ? {} : { from }).catch((error: unknown) => error)
      if (outcome instanceof ImportError || outcome instanceof RecordingError) {
        refused++
        return
      }
      const { recordings } = outcome as Awaited<ReturnType<typeof importRecordings>>
      const text = formatRecordings(recordings)
      const again = parseRecordings(Buffer.from(text))
      expect(formatRecordings(again)).toBe(text)
      // And redaction takes all that can be read.
      parseRecordings(Buffer.from(formatRecordings(again.map((one) => redactRecording(one)))))
      read++
    }),
    { seed: SEED, numRuns: 3000 },
  )
  expect(read).toBeGreaterThan(500)
  expect(refused).toBeGreaterThan(500)
})
