/** The part of `node:url` that tests use, in a page: there, a module has the address that the server gave it. */
import { ROOT } from 'virtual:files'

export function fileURLToPath(url: string | URL): string {
  const path = decodeURI(new URL(url).pathname)
  // Test files have their whole path there, what they import begins at the repository.
  return path.startsWith(ROOT) ? path : ROOT + path.slice(1)
}
