/** Any character that is none of the alphabet: a search for one runs in constant stack, whatever the length of the text. */
const FOREIGN = /[^A-Za-z0-9+/]/
/** How much is turned into a string at once: the arguments of a call live on the stack. */
const STRETCH = 8192

/** The bytes of padded standard base64 (RFC 4648 §4), or undefined for any other text. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (FOREIGN.test(padding === 0 ? text : text.slice(0, -padding))) return undefined
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}

/** Padded standard base64 (RFC 4648 §4). */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let from = 0; from < bytes.length; from += STRETCH) {
    binary += String.fromCharCode(...bytes.subarray(from, from + STRETCH))
  }
  return btoa(binary)
}
