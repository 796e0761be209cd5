/**
 * The published surface, pinned. The lists below are literals, never derived: a red test means that users would notice.
 * If that is what you want, change the list here and write the change into CHANGELOG.md.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const CORE_ENTRIES = [
  '.',
  './sse',
  './json',
  './chunk',
  './adapters',
  './adapters/anthropic-messages',
  './adapters/bedrock-converse',
  './adapters/cohere',
  './adapters/gemini',
  './adapters/ollama',
  './adapters/openai-chat',
  './adapters/openai-completions',
  './adapters/openai-responses',
  './accumulate',
  './history',
  './tool-call',
  './engine',
  './client',
  './recording',
  './server',
  './pace',
  './node',
  './testing',
  './package.json',
]
const CLI_ENTRIES = ['./package.json']

interface Entry {
  readonly '@streamfold/source': string
  readonly types: string
  readonly default: string
}
interface Manifest {
  readonly exports: Record<string, Entry | string>
  readonly bin?: Record<string, string>
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const coreFolder = join(root, 'packages/core')
const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
const core = manifestOf(coreFolder)
const cli = manifestOf(join(root, 'packages/cli'))

describe('streamfold', () => {
  test('has exactly these entries', () => {
    expect(Object.keys(core.exports)).toEqual(CORE_ENTRIES)
  })

  const code = CORE_ENTRIES.filter((key) => key !== './package.json')

  test.each(code)('%s is one folder, one index', (key) => {
    const path = key === '.' ? '' : key.slice(1)
    expect(core.exports[key]).toEqual({
      '@streamfold/source': `./src${path}/index.ts`,
      types: `./dist${path}/index.d.ts`,
      default: `./dist${path}/index.js`,
    })
  })

  test.each(code)('%s has its source, its types and its built file (after npm run build)', (key) => {
    const missing = Object.values(core.exports[key]!).filter((path) => !existsSync(join(coreFolder, path)))
    expect(missing).toEqual([])
  })

  test('every entry loads in plain Node, by its published name', () => {
    const names = code.map((key) => `streamfold${key.slice(1)}`)
    const script = `for (const name of ${JSON.stringify(names)}) { await import(name); console.log(name) }`
    const loaded = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(loaded.trim().split('\n')).toEqual(names)
  })
})

describe('@streamfold/cli', () => {
  test('has exactly these entries and one command', () => {
    expect(Object.keys(cli.exports)).toEqual(CLI_ENTRIES)
    expect(cli.bin).toEqual({ streamfold: './bin/streamfold.js' })
  })

  test('the command is linked and built', () => {
    expect(existsSync(join(root, 'node_modules/.bin/streamfold'))).toBe(true)
    expect(existsSync(join(root, 'packages/cli/dist/main.js'))).toBe(true)
  })
})

describe('the table of entries in the README', () => {
  const table = /^\| Name +\| From +\|\n[\s\S]*?\n\n/m.exec(readFileSync(join(root, 'README.md'), 'utf8'))![0]
  const rows = [...table.matchAll(/^\| (`.+`) +\| `(streamfold\/[\w-]+)` +\|$/gm)]

  test('has rows', () => {
    expect(rows.length).toBeGreaterThan(5)
  })

  test.each(rows.map(([, names, entry]) => [entry!, names!.split(', ').map((name) => name.slice(1, -1))] as const))(
    '%s has what is said to be imported from it, and the library itself has not',
    async (entry, names) => {
      expect(Object.keys(await import(entry))).toEqual(expect.arrayContaining([...names]))
      expect(Object.keys(await import('streamfold')).filter((name) => names.includes(name))).toEqual([])
    },
  )
})
