/** RFC 9110, field-content: no control characters but tab, and nothing beyond Latin-1. */
const FIELD_CONTENT = /^[\t\x20-\x7e\x80-\xff]+$/

/** A key that fails this must not reach `fetch`, which would quote all of it in its message. */
export function isHeaderValue(text: string): boolean {
  return FIELD_CONTENT.test(text)
}
