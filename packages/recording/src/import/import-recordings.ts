import { looksLikeRecording } from 'streamfold/recording'
import type { LineToWrite } from 'streamfold/recording'
import { inflatedBytes } from '../file/gzip.ts'
import { parseRecordings } from '../file/recording-file.ts'
import { importBody } from './bare-body.ts'
import { importChunkList } from './chunk-list.ts'
import type { ChunkListOptions } from './chunk-list.ts'
import { importCurlOutput } from './curl-output.ts'
import { importCurlTrace } from './curl-trace.ts'
import { importHar } from './har.ts'
import type { HarOptions } from './har.ts'
import { recordingInPage } from './html-page.ts'
import { ImportError } from './import-error.ts'
import { linesOf } from './imported-exchange.ts'

/** What can be imported. */
export const IMPORT_FORMATS = ['recording', 'curl', 'curl-trace', 'har', 'html', 'chunks', 'body'] as const
export type ImportFormat = (typeof IMPORT_FORMATS)[number]

export interface ImportOptions extends HarOptions, ChunkListOptions {
  /** Default: by how the file begins. `chunks` is never guessed: a body of JSON lines looks the same. */
  readonly from?: ImportFormat
}

/** Exchanges as `writeRecordings` takes them. They are not redacted yet. */
export interface ImportedRecordings {
  readonly format: ImportFormat
  readonly recordings: readonly { readonly lines: readonly LineToWrite[] }[]
}

const HEAD_BYTES = 4096

/**
 * Makes recordings of a foreign file, inflated where it is gzip.
 *
 * @throws ImportError with line or path for a file that is not what it seems or is said to be; RecordingError for a recording
 */
export async function importRecordings(bytes: Uint8Array, options: ImportOptions = {}): Promise<ImportedRecordings> {
  const plain = inflatedBytes(bytes)
  if (plain.length === 0) throw new ImportError('the file is empty')
  const format = options.from ?? detectFormat(plain)
  return { format, recordings: await importAs(format, plain, options) }
}

async function importAs(
  format: ImportFormat,
  bytes: Uint8Array,
  options: ImportOptions,
): Promise<ImportedRecordings['recordings']> {
  switch (format) {
    case 'recording':
      return parseRecordings(bytes)
    case 'curl':
      return [linesOf(importCurlOutput(bytes))]
    case 'curl-trace':
      return (await importCurlTrace(Buffer.from(bytes).toString('latin1'))).map(linesOf)
    case 'har':
      return importHar(textOf(bytes), options)
    case 'html':
      return parseRecordings(Buffer.from(recordingInPage(textOf(bytes))))
    case 'chunks':
      return [linesOf(importChunkList(textOf(bytes), options))]
    case 'body':
      return [linesOf(importBody(bytes))]
  }
}

/** By how a file begins; what is nothing else is a body. */
export function detectFormat(bytes: Uint8Array): ImportFormat {
  if (looksLikeRecording(bytes)) return 'recording'
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1')
  if (/^HTTP\/\d(?:\.\d)? \d{3}/.test(head)) return 'curl'
  if (/^(?:\d\d:\d\d:\d\d\.\d{6} )?(?:\[[^\]\n]*\] )?(?:== Info: |=> Send |<= Recv )/.test(head)) return 'curl-trace'
  if (/^(?:\xef\xbb\xbf)?\s*\{\s*"log"\s*:\s*\{/.test(head)) return 'har'
  if (/^<!doctype html>\s*<html[^>]*data-streamfold/i.test(head)) return 'html'
  return 'body'
}

const FOREIGN_FORMATS: Readonly<Partial<Record<ImportFormat, string>>> = {
  curl: 'output of curl -i',
  'curl-trace': 'a trace of curl',
  har: 'a HAR file',
  html: 'an exported page',
}

/** What a file is, in words, that would be taken for a body although it holds more than one; undefined for bodies and recordings. */
export function foreignFormatOf(bytes: Uint8Array): string | undefined {
  return FOREIGN_FORMATS[detectFormat(bytes)]
}

/** @throws ImportError with the line of the first byte that is not UTF-8 */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    let line = 1
    for (let from = 0; from < bytes.length; line++) {
      const found = bytes.indexOf(0x0a, from)
      const to = found < 0 ? bytes.length : found + 1
      try {
        new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(from, to))
      } catch {
        throw new ImportError('holds bytes that are not UTF-8', { line })
      }
      from = to
    }
    throw new ImportError('holds bytes that are not UTF-8')
  }
}
