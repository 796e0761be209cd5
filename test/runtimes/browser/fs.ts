/** The part of `node:fs` that tests use, in a page. */
import { FILES } from 'virtual:files'
import { fileURLToPath } from './url.ts'

interface Entry {
  readonly name: string
  /** The folder that it is in. */
  readonly parentPath: string
  isDirectory(): boolean
  isFile(): boolean
}

interface EntryOptions {
  readonly withFileTypes: true
  readonly recursive?: boolean
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

/** A file, or a folder with files in it. */
export function existsSync(path: string | URL): boolean {
  const known = pathOf(path).replace(/\/$/, '')
  return known in FILES || Object.keys(FILES).some((file) => file.startsWith(`${known}/`))
}

export function readdirSync(path: string | URL): readonly string[]
export function readdirSync(path: string | URL, options: EntryOptions): readonly Entry[]
export function readdirSync(path: string | URL, options?: EntryOptions): readonly (string | Entry)[] {
  const root = pathOf(path).replace(/\/$/, '')
  const entries = new Map<string, Entry>()
  for (const file of Object.keys(FILES)) {
    if (!file.startsWith(`${root}/`)) continue
    const parts = file.slice(root.length + 1).split('/')
    const depth = options?.recursive === true ? parts.length : 1
    for (let i = 0; i < depth; i++) {
      const parentPath = [root, ...parts.slice(0, i)].join('/')
      const name = parts[i]!
      const isFolder = i < parts.length - 1
      entries.set(`${parentPath}/${name}`, { name, parentPath, isDirectory: () => isFolder, isFile: () => !isFolder })
    }
  }
  if (entries.size === 0) throw new Error(`${root} is not there, or not among the files given to the page`)
  const list = [...entries.values()]
  return options ? list : list.map(({ name }) => name)
}
