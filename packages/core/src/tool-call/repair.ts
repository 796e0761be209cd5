import type { ArgumentRepair } from '../chunk/argument-repair.ts'
import { escapeControls } from '../json/escape-controls.ts'
import { readStrict } from '../json/strict.ts'
import { isJsonObject } from '../json/value.ts'
import { createWholenessScanner } from '../json/wholeness.ts'

/**
 * The repaired text, or undefined when this repair does not apply. `fragments` are the pieces as they came.
 *
 * Repairs are looked at only when the text as it came does not parse, they are tried in the order in which they were asked for, and a
 * call that was repaired says so in its event and in the report. The executor validates the result against the tool's schema.
 */
export function repairArguments(
  repair: ArgumentRepair,
  text: string,
  fragments: readonly string[],
): string | undefined {
  switch (repair) {
    case 'cumulative':
      return cumulative(fragments)
    case 'repeated':
      return repeated(text)
    case 'double-encoded':
      return doubleEncoded(text)
    case 'trailing-data':
      return firstObject(text)
    case 'extra-brackets':
      return extraBrackets(text)
    case 'missing-brackets':
      return missingBrackets(text)
    case 'control-characters':
      return escapeControls(text)
  }
}

function cumulative(fragments: readonly string[]): string | undefined {
  const pieces = fragments.filter((piece) => piece !== '')
  for (let i = 1; i < pieces.length; i++) if (!pieces[i]!.startsWith(pieces[i - 1]!)) return undefined
  return pieces.length > 1 ? pieces[pieces.length - 1] : undefined
}

/** `{…}{…}`: the same document two or more times over. */
function repeated(text: string): string | undefined {
  const first = readStrict(text)
  if (first.ok || first.code !== 'trailing_data') return undefined
  const unit = text.slice(0, first.offset).trim()
  let rest = text.trim()
  while (rest.startsWith(unit)) rest = rest.slice(unit.length).trimStart()
  return rest === '' ? unit : undefined
}

/** Only a string that itself holds an object is unwrapped, and only once. */
function doubleEncoded(text: string): string | undefined {
  const outer = readStrict(text)
  if (!outer.ok || typeof outer.value !== 'string') return undefined
  const inner = readStrict(outer.value)
  return inner.ok && isJsonObject(inner.value) ? outer.value : undefined
}

/** `{}` in front of another document is not taken: it would throw the arguments away. */
function firstObject(text: string): string | undefined {
  const read = readStrict(text)
  if (read.ok || read.code !== 'trailing_data') return undefined
  const rest = text.slice(read.offset)
  const first = text.slice(0, read.offset)
  const value = readStrict(first)
  if (!value.ok || !isJsonObject(value.value)) return undefined
  return /^\s*[{[]/.test(rest) ? undefined : first.trim()
}

function extraBrackets(text: string): string | undefined {
  const read = readStrict(text)
  if (read.ok || read.code !== 'trailing_data') return undefined
  return /^[}\]\s]*$/.test(text.slice(read.offset)) ? text.slice(0, read.offset).trim() : undefined
}

function missingBrackets(text: string): string | undefined {
  const read = readStrict(text)
  if (read.ok || read.code !== 'incomplete') return undefined
  for (const closing of closingBrackets(text)) {
    const closed = readStrict(text + closing)
    if (closed.ok && isJsonObject(closed.value)) return text + closing
  }
  return undefined
}

/** The brackets that would close the text; nothing while a string is open, whose end can't be known. */
function closingBrackets(text: string): readonly string[] {
  const open: string[] = []
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!
    if (inString) {
      if (char === '\\') i++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{') open.push('}')
    else if (char === '[') open.push(']')
    else if (char === '}' || char === ']') open.pop()
  }
  return inString || open.length === 0 || createWholenessScanner().push(text) !== 'partial'
    ? []
    : [open.reverse().join('')]
}
