import { controlEscape } from './control-escape.ts'

// eslint-disable-next-line no-control-regex -- control characters are what this file is about
const CONTROL = /[\u0000-\u001f]/

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Writes raw control characters (U+0000–U+001F) inside JSON string literals as escapes; a repair for models that put bare
 * line breaks into arguments. Gives `undefined` when there was nothing to change.
 *
 * Whitespace between tokens stays as it is. A control character right after a backslash stays too: `\` + LF is a broken
 * escape, and writing it as `\\n` would make it a backslash and an `n` that nobody sent. Text that is not JSON is treated
 * by the same rule (a literal runs from one unescaped quote to the next), so the result must still be parsed strictly.
 */
export function escapeControls(text: string): string | undefined {
  if (!CONTROL.test(text)) return undefined
  let result = ''
  // Everything before this offset is in `result`.
  let copied = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      inString = !inString
    } else if (inString && code === BACKSLASH) {
      at++
    } else if (inString && code < 0x20) {
      result += text.slice(copied, at) + controlEscape(code)
      copied = at + 1
    }
  }
  return copied === 0 ? undefined : result + text.slice(copied)
}
