export { END_KINDS, RECORDING_FORMAT, RECORDING_VERSION } from './recording.ts'
export type {
  BodyForm,
  CaptureLevel,
  EndKind,
  HeaderPair,
  OtherLine,
  RecordedRead,
  RecordedRequest,
  RecordedResponse,
  Recording,
  RecordingEnd,
  RecordingHead,
  RecordingLine,
  TimingKind,
} from './recording.ts'
export { RecordingError } from './recording-error.ts'
export type { RecordingErrorCode } from './recording-error.ts'
export { looksLikeRecording, readRecordings } from './read-recordings.ts'
export type { ReadRecordingsOptions } from './read-recordings.ts'
export { replayInto } from './replay.ts'
export type { ReplayTarget } from './replay.ts'
export { requestFactsOf } from './request-facts.ts'
export { createRecordingWriter, MAX_READ_BYTES, writeRecordings } from './write-recording.ts'
export type {
  HeadToWrite,
  LineToWrite,
  RecordingWriter,
  RecordingWriterOptions,
  RunningHash,
} from './write-recording.ts'
