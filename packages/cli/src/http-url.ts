/** What commands take as an address: an absolute URL of HTTP or HTTPS. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
