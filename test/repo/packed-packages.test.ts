/** What `npm pack` would put into each package: built code, a page that says what it is, and for the library all pages without dead links. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'

interface PackedPackage {
  readonly name: string
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const KIB = 1024
let packages: ReadonlyMap<string, PackedPackage>

beforeAll(async () => {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const args = ['pack', '--dry-run', '--json', '--workspaces']
  const { stdout } = await promisify(execFile)(npm, args, { cwd: root, maxBuffer: 64 * 1024 * KIB })
  packages = new Map((JSON.parse(stdout) as PackedPackage[]).map((one) => [one.name, one]))
}, 120_000)

function pathsOf(name: string): ReadonlySet<string> {
  return new Set(packages.get(name)?.files.map(({ path }) => path))
}

const pages = (): readonly string[] => [...pathsOf('streamfold')].filter((path) => path.endsWith('.md'))

test.each([
  ['streamfold', 'dist/index.js'],
  ['@streamfold/cli', 'dist/main.js'],
  ['@streamfold/recording', 'dist/index.js'],
  ['@streamfold/tools', 'dist/index.js'],
])('%s has its code, its page and its licence, and nothing of the build', (name, code) => {
  const paths = pathsOf(name)
  expect([...paths]).toEqual(expect.arrayContaining([code, 'README.md', 'LICENSE', 'package.json']))
  expect([...paths].filter((path) => /tsbuildinfo|\.test\.|^test\//.test(path))).toEqual([])
})

describe('the pages of streamfold', () => {
  const library = join(root, 'packages/core')

  test('are all there, and small', () => {
    for (const page of ['faults', 'tools', 'recording', 'replay', 'diagnosis', 'client', 'server', 'history']) {
      expect(pages()).toContain(`docs/${page}.md`)
    }
    const files = packages.get('streamfold')!.files.filter(({ path }) => path.startsWith('docs/'))
    expect(files.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(300 * KIB)
  })

  test('have no link that leads out of the package', () => {
    const paths = pathsOf('streamfold')
    const isThere = (path: string): boolean =>
      path === '' || paths.has(path) || [...paths].some((packed) => packed.startsWith(`${path}/`))
    const dead = pages().flatMap((page) => {
      const text = readFileSync(join(library, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
      return [...text.replaceAll(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)]
        .map((match) => match[1]!)
        .filter((target) => !/^[a-z]+:/.test(target) && !isThere(posix.join(posix.dirname(page), target)))
        .map((target) => `${page}: ${target}`)
    })
    expect(dead).toEqual([])
  })
})

// Found by the command line, and named in the pages of the other packages.
test.each(['cli', 'recording', 'tools'])('the README of %s names pages that there are', (name) => {
  const text = readFileSync(join(root, 'packages', name, 'README.md'), 'utf8')
  const named = [...text.matchAll(/`(docs\/[\w-]+\.md)`/g)].map((match) => match[1]!)
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
})
