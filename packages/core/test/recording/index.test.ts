import { expect, test } from 'vitest'
import * as recording from '../../src/recording/index.ts'

// Red means deliberate, not forbidden: change the list, and write the change into CHANGELOG.md.
test('the surface of recording', () => {
  expect(Object.keys(recording).toSorted()).toEqual([
    'END_KINDS',
    'MAX_READ_BYTES',
    'RECORDING_FORMAT',
    'RECORDING_VERSION',
    'RecordingError',
    'createRecordingWriter',
    'looksLikeRecording',
    'readRecordings',
    'replayInto',
    'requestFactsOf',
    'writeRecordings',
  ])
})
