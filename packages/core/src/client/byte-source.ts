/** Bytes as shells meet them: a web stream, with or without `Symbol.asyncIterator`, or anything that iterates over reads. */
export type ByteSource = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** What a source gives: a read, or the end. */
export type ByteRead = { readonly done: boolean | undefined; readonly value?: Uint8Array | undefined }

/** One read at a time, and a way to say that no more are wanted. */
export interface ByteReader {
  /** The source's own promise: a layer more would cost as much as all the parsing when events come one by one. */
  read(): Promise<ByteRead>
  /** Gives the source up and releases its socket. A pending read ends. */
  cancel(reason?: unknown): Promise<void>
}

export function readerOf(source: ByteSource): ByteReader {
  // Safari and older engines have no asyncIterator on streams, and a reader is cheaper where there is one.
  if ('getReader' in source) return source.getReader()
  const iterator = source[Symbol.asyncIterator]()
  return {
    read: () => iterator.next() as Promise<ByteRead>,
    cancel: async () => {
      await iterator.return?.()
    },
  }
}
