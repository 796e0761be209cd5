import { styleText } from 'node:util'
import type { RungState } from 'streamfold/engine'
import type { Output } from '../output.ts'

type Colour = 'green' | 'yellow' | 'red' | 'gray' | 'bold'

/** How a report looks on one output: its marks, its colours, its width. */
export interface Theme {
  readonly marks: Readonly<Record<RungState, string>>
  readonly warning: string
  /** In the place of the pass mark in a headline: an accepted outcome with something wrong all the same. */
  readonly caution: string
  readonly info: string
  readonly separator: string
  readonly columns: number
  readonly paint: (colour: Colour, text: string) => string
}

const MAX_COLUMNS = 100
const MIN_COLUMNS = 60

const UNICODE = {
  marks: { pass: '✓', fail: '✗', not_reached: '–', not_applicable: '·' },
  warning: '!',
  caution: '!',
  info: '·',
  separator: ' · ',
}
const ASCII = {
  marks: { pass: 'ok', fail: 'FAIL', not_reached: '-', not_applicable: '.' },
  warning: '!',
  caution: 'warn',
  info: '.',
  separator: ', ',
}

/** Colours and other characters than ASCII only for a terminal that can show them and a user who did not refuse. */
export function themeOf(output: Output, env: Readonly<Record<string, string | undefined>>): Theme {
  const fancy = output.isTTY && env['TERM'] !== 'dumb' && (env['NO_COLOR'] ?? '') === ''
  const columns = (output.isTTY && output.stream.columns) || MAX_COLUMNS
  return {
    ...(fancy && showsUnicode(env) ? UNICODE : ASCII),
    columns: Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, columns)),
    paint: fancy ? (colour, text) => styleText(colour, text, { validateStream: false }) : (_colour, text) => text,
  }
}

function showsUnicode(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  // Terminals on Windows and macOS set no locale, and show Unicode.
  return locale === '' ? process.platform !== 'linux' : /utf-?8/i.test(locale)
}
