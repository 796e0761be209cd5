/**
 * The JSON escape of one UTF-16 unit: the short form where RFC 8259 has one for a control character (`\n`, `\t` …), else
 * `\u` and four lower-case hex digits, as `JSON.stringify` writes it.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8259#section-7
 */
export function controlEscape(code: number): string {
  switch (code) {
    case 0x08:
      return '\\b'
    case 0x09:
      return '\\t'
    case 0x0a:
      return '\\n'
    case 0x0c:
      return '\\f'
    case 0x0d:
      return '\\r'
    default:
      return `\\u${code.toString(16).padStart(4, '0')}`
  }
}
