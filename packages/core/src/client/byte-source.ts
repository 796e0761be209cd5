/** Bytes as shells meet them: a web stream, with or without `Symbol.asyncIterator`, or anything that iterates over reads. */
export type ByteSource = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** One read at a time, and a way to say that no more are wanted. */
export interface ByteReader {
  /** The next read, or undefined at the end. */
  read(): Promise<Uint8Array | undefined>
  /** Gives the source up and releases its socket. A pending read ends. */
  cancel(reason?: unknown): Promise<void>
}

export function readerOf(source: ByteSource): ByteReader {
  // Safari and older engines have no asyncIterator on streams, and a reader is cheaper where there is one.
  if ('getReader' in source) {
    const reader = source.getReader()
    return {
      read: async () => (await reader.read()).value,
      cancel: (reason) => reader.cancel(reason),
    }
  }
  const iterator = source[Symbol.asyncIterator]()
  return {
    read: async () => {
      const result = await iterator.next()
      return result.done === true ? undefined : result.value
    },
    cancel: async () => {
      await iterator.return?.()
    },
  }
}
