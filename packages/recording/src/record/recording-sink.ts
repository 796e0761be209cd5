import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { refuseDevice } from '../file/device-name.ts'
import { PRIVATE_FILE } from '../file/recording-file.ts'

/** Where the lines of one exchange go. */
export interface RecordingSink {
  /** Name of the file, where it is one. */
  readonly file?: string
  /** Bytes that were handed over and are not on disk yet; a recorder that sees too many gives up, and the stream goes on. */
  readonly pendingBytes: number
  /** Takes whole lines. Never throws: a disk that is full is told through {@link RecordingSink.failure}. */
  write(text: string): void
  /** Why nothing more is written. */
  readonly failure: Error | undefined
  /** Resolves once everything is on disk, or never will be. */
  close(): Promise<void>
}

/** Lines wait this long for others, so that many streams at once don't become as many writes as reads. */
const GATHER_MS = 20
const GATHER_BYTES = 64 * 1024

/**
 * A new file, readable by its owner only. Every write is whole lines, so it can be read whenever the process dies; what was
 * gathered in the last 20 ms is lost then.
 */
export function fileSink(file: string): RecordingSink {
  refuseDevice(file)
  const stream = createWriteStream(file, { flags: 'wx', mode: PRIVATE_FILE })
  let failure: Error | undefined
  let gathered = ''
  let timer: NodeJS.Timeout | undefined
  stream.on('error', (error) => (failure = error))
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (failure === undefined && gathered !== '') stream.write(gathered)
    gathered = ''
  }
  return {
    file,
    get pendingBytes() {
      return stream.writableLength + gathered.length
    },
    get failure() {
      return failure
    },
    write: (text) => {
      gathered += text
      if (gathered.length >= GATHER_BYTES) flush()
      else timer ??= setTimeout(flush, GATHER_MS)
    },
    close: () =>
      new Promise((resolve) => {
        flush()
        if (stream.closed) resolve()
        else stream.on('close', resolve).end()
      }),
  }
}

/** Keeps the lines in memory, without a bound; for a library that hands a recording on. */
export function memorySink(): RecordingSink & { readonly text: () => string } {
  const lines: string[] = []
  return {
    pendingBytes: 0,
    failure: undefined,
    write: (text) => void lines.push(text),
    close: () => Promise.resolve(),
    text: () => lines.join(''),
  }
}

/**
 * Opens a file for each exchange in a folder, which is made where it is missing: `<time>-<last part of the path>-<id>.stream.jsonl`.
 */
export function folderSinks(folder: string): (exchange: SinkRequest) => RecordingSink {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return ({ created, url, id }) => {
    const path = url.replace(/[?#].*$/s, '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
    const name = path
      .split('/')
      .slice(-2)
      .join('-')
      .replaceAll(/[^A-Za-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 40)
    const time = created.replaceAll(':', '-')
    return fileSink(
      join(folder, `${[time, name, id.slice(0, 8)].filter((part) => part !== '').join('-')}.stream.jsonl`),
    )
  }
}

/** What a sink may be named for. */
export interface SinkRequest {
  readonly id: string
  /** RFC 3339. */
  readonly created: string
  readonly url: string
}
