/** The part of `node:path` that tests use, in a page: paths are absolute and have slashes. */
export function relative(from: string, to: string): string {
  const base = from.replace(/\/$/, '')
  if (to === base || to === from) return ''
  if (!to.startsWith(`${base}/`)) throw new Error(`${to} is not inside of ${from}`)
  return to.slice(base.length + 1)
}
