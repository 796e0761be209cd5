import { createHash } from 'node:crypto'
import type { RunningHash } from 'streamfold/recording'

/** For {@link RecordingWriterOptions.sha256} of `streamfold/recording`. */
export function runningSha256(): RunningHash {
  const hash = createHash('sha256')
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') }
}

/** SHA-256, in hex, of reads laid end to end: what `readRecordings` checks end lines with. */
export function sha256Of(reads: readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const bytes of reads) hash.update(bytes)
  return hash.digest('hex')
}
