/**
 * Number of bytes the text takes in UTF-8, without encoding it. A lone surrogate counts 3, as the U+FFFD that
 * `TextEncoder` writes in its place.
 */
export function utf8Length(text: string): number {
  const length = text.length
  let bytes = length
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    if (code < 0x800) {
      bytes += 1
      continue
    }
    bytes += 2
    if (code >= 0xd800 && code < 0xdc00 && at + 1 < length) {
      const low = text.charCodeAt(at + 1)
      // A pair is two units and four bytes: the two added above are all it needs.
      if (low >= 0xdc00 && low < 0xe000) at++
    }
  }
  return bytes
}
