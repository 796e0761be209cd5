import { controlEscape } from './control-escape.ts'

/**
 * What must not reach a terminal or a log line as it is: control characters (C0, DEL, C1), line and paragraph separators,
 * controls that reorder text on screen, and lone surrogates, which no UTF-8 output can carry.
 */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]/u

/**
 * Makes text from the wire fit for a message: at most `max` UTF-16 units, `…` included when something was left off, with
 * unprintable characters as visible escapes (`\n`, `\u001b`).
 *
 * A surrogate pair or an escape is never split: what does not fit whole is left off. `max` below 1 gives `''`. The result
 * is for reading, not for parsing back: a backslash that was in the text stays single. The cost grows with `max`, not with
 * the text.
 */
export function clip(text: string, max: number): string {
  if (text.length <= max && !UNPRINTABLE.test(text)) return text
  if (!(max >= 1)) return ''
  let shown = ''
  // Length of what may stay if the rest does not fit: the ellipsis needs one unit.
  let keep = 0
  for (const character of text) {
    shown += UNPRINTABLE.test(character) ? controlEscape(character.charCodeAt(0)) : character
    if (shown.length > max) return `${shown.slice(0, keep)}…`
    if (shown.length < max) keep = shown.length
  }
  return shown
}
