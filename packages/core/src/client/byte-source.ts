import { shown } from './check-call.ts'

/** Bytes as shells meet them: a web stream, with or without `Symbol.asyncIterator`, or anything that iterates over reads. */
export type ByteSource = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** @throws TypeError for what is no {@link ByteSource}, at once and not with the first read */
export function checkSource(who: string, source: unknown): void {
  if (typeof source === 'object' && source !== null && ('getReader' in source || Symbol.asyncIterator in source)) return
  const isResponse = typeof source === 'object' && source !== null && 'body' in source
  const what = isResponse ? 'a Response' : shown(source)
  throw new TypeError(
    `${who} takes a ReadableStream or an async iterable of bytes, not ${what}; pass response.body${isResponse ? '' : ', which is null where an answer has no body'}`,
  )
}

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
