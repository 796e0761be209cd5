import { clip } from 'streamfold/json'

/** Characters that take two columns of a terminal: East Asian wide and full-width ones, emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
/** Characters that take none: combining marks, joiners, variation selectors. */
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]$/u

/** Columns that printable text takes in a terminal; an estimate where terminals differ. */
export function displayWidth(text: string): number {
  let width = 0
  for (const character of text) width += widthOf(character)
  return width
}

function widthOf(character: string): number {
  if (character < '\u0300') return 1
  return ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1
}

/** Text from the wire on one line of at most `columns` columns: no control characters, `…` for what was left off. */
export function fit(text: string, columns: number): string {
  // Every character takes at most one column less than its UTF-16 units, so clipping first bounds the work. Combining marks
  // take none, so a long run of them is cut by the same bound.
  const printable = clip(text, columns * 2)
  if (displayWidth(printable) <= columns) return printable
  let shown = ''
  let width = 0
  for (const character of printable) {
    width += widthOf(character)
    if (width > columns - 1) break
    shown += character
  }
  return `${shown.trimEnd()}…`
}

/** As {@link fit}, but keeps the end: of a long path the file's own name. */
export function fitTail(text: string, columns: number): string {
  const printable = clip(text, Infinity)
  if (displayWidth(printable) <= columns) return printable
  const characters = Array.from(printable)
  let width = 0
  let start = characters.length
  while (start > 0 && width + widthOf(characters[start - 1]!) <= columns - 1) width += widthOf(characters[--start]!)
  return `…${characters.slice(start).join('')}`
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)))
}

/** Breaks printable text at spaces into at most `maxLines` lines; what does not fit is left off with `…`. */
export function wrap(text: string, columns: number, maxLines: number): readonly string[] {
  const lines: string[] = []
  let rest = clip(text, columns * maxLines * 2).trim()
  while (rest !== '' && lines.length < maxLines - 1 && displayWidth(rest) > columns) {
    const line = firstLine(rest, columns)
    lines.push(line.trimEnd())
    rest = rest.slice(line.length).trimStart()
  }
  if (rest !== '') lines.push(fit(rest, columns))
  return lines
}

/** As many whole words as fit, or as much of a single one. */
function firstLine(text: string, columns: number): string {
  let width = 0
  let end = 0
  let lastSpace = 0
  for (const character of text) {
    if (character === ' ') lastSpace = end + 1
    width += widthOf(character)
    if (width > columns) break
    end += character.length
  }
  return text.slice(0, lastSpace > 0 ? lastSpace : end)
}
