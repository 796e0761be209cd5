/** Bounds on what one stream may make us hold. All are enforced before memory grows. */
export interface StreamLimits {
  /** One event, in bytes of its block. */
  readonly eventBytes: number
  /** Arguments of one call, in UTF-8 bytes; checked before they are parsed. */
  readonly argumentBytes: number
  readonly callsPerChoice: number
  readonly choices: number
  /** The whole body, in bytes after content decoding. */
  readonly streamBytes: number
  /** Nesting of arrays and objects in arguments. */
  readonly jsonDepth: number
  /** Largest slice of a read that is decoded at once; a larger read is cut, not refused. */
  readonly readBytes: number
}

/** What holds where nothing else is asked for. */
export const DEFAULT_LIMITS: StreamLimits = {
  eventBytes: 8 * 1024 * 1024,
  argumentBytes: 1024 * 1024,
  callsPerChoice: 128,
  choices: 128,
  streamBytes: 256 * 1024 * 1024,
  jsonDepth: 128,
  readBytes: 1024 * 1024,
}
