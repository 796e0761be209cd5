import type { ByteSource } from '../../src/client/byte-source.ts'

const encoder = new TextEncoder()

/** What a source has seen of its reader. */
export interface SourceLog {
  /** Reads that were asked for. */
  pulls: number
  /** How often the source was given up before its end. */
  cancels: number
}

export interface ByteSourceKind {
  readonly name: string
  /** It can be told that no more reads are wanted. */
  readonly cancellable: boolean
  /** `pieces` one read at a time; an Error among them is thrown in place of a read. */
  readonly make: (pieces: readonly (string | Error)[], log?: SourceLog) => ByteSource
}

export function newLog(): SourceLog {
  return { pulls: 0, cancels: 0 }
}

export const SOURCE_KINDS: readonly ByteSourceKind[] = [
  { name: 'a web stream', cancellable: true, make: (pieces, log) => webStream(pieces, log) },
  {
    name: 'a web stream without Symbol.asyncIterator',
    cancellable: true,
    make(pieces, log) {
      const stream = webStream(pieces, log)
      Object.defineProperty(stream, Symbol.asyncIterator, { value: undefined })
      return stream
    },
  },
  { name: 'an async generator', cancellable: true, make: (pieces, log) => generator(pieces, log) },
  {
    name: 'an async iterable whose iterator has no return()',
    cancellable: false,
    make(pieces, log) {
      const inner = generator(pieces, log)
      return { [Symbol.asyncIterator]: () => ({ next: () => inner.next() }) }
    },
  },
]

function webStream(pieces: readonly (string | Error)[], log: SourceLog = newLog()): ReadableStream<Uint8Array> {
  const left = [...pieces]
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        log.pulls++
        const piece = left.shift()
        if (piece === undefined) controller.close()
        else if (piece instanceof Error) controller.error(piece)
        else controller.enqueue(encoder.encode(piece))
      },
      cancel() {
        log.cancels++
      },
    },
    // Nothing is made before it is asked for.
    { highWaterMark: 0 },
  )
}

async function* generator(pieces: readonly (string | Error)[], log: SourceLog = newLog()): AsyncGenerator<Uint8Array> {
  let over = false
  try {
    for (const piece of pieces) {
      log.pulls++
      if (piece instanceof Error) {
        over = true
        throw piece
      }
      yield encoder.encode(piece)
    }
    log.pulls++
    over = true
  } finally {
    if (!over) log.cancels++
  }
}
