/** The part of `node:fs` that tests use, in a page. */
import { FILES } from 'virtual:files'
import { fileURLToPath } from './url.ts'

interface Entry {
  readonly name: string
  isDirectory(): boolean
}

const pathOf = (path: string | URL) => (typeof path === 'string' ? path : fileURLToPath(path))

export function readFileSync(path: string | URL): Uint8Array
export function readFileSync(path: string | URL, encoding: 'utf8'): string
export function readFileSync(path: string | URL, encoding?: 'utf8'): Uint8Array | string {
  const content = FILES[pathOf(path)]
  if (content === undefined) throw new Error(`${pathOf(path)} is not there, or not among the files given to the page`)
  const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0))
  return encoding === undefined ? bytes : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

export function readdirSync(path: string | URL): readonly string[]
export function readdirSync(path: string | URL, options: { readonly withFileTypes: true }): readonly Entry[]
export function readdirSync(
  path: string | URL,
  options?: { readonly withFileTypes: true },
): readonly (string | Entry)[] {
  const folder = `${pathOf(path).replace(/\/$/, '')}/`
  const inside = Object.keys(FILES).flatMap((file) =>
    file.startsWith(folder) ? [file.slice(folder.length).split('/')] : [],
  )
  if (inside.length === 0) throw new Error(`${folder} is not there, or not among the files given to the page`)
  const isFolder = new Map(inside.map(([name, ...rest]) => [name!, rest.length > 0]))
  if (!options) return [...isFolder.keys()]
  return [...isFolder].map(([name, directory]) => ({ name, isDirectory: () => directory }))
}
