/** Links between pages of the repository lead to a file that is there, and anchors to a heading in it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.split(sep).join('/')}`),
]
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const withoutCode = (page: string) => page.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '')

/** Anchors the way GitHub makes them: lower case, punctuation dropped, blanks to hyphens. */
function anchorsOf(path: string): readonly string[] {
  const headings =
    read(path)
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .match(/^#+ .+$/gm) ?? []
  return headings.map((heading) =>
    heading
      .replace(/^#+ /, '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function isDead(from: string, target: string): boolean {
  const [path, anchor] = target.split('#')
  const file = path === '' ? from : normalize(join(dirname(from), path!))
  if (!existsSync(join(root, file))) return true
  return anchor !== undefined && !anchorsOf(file).includes(anchor)
}

test.each(pages)('%s has no dead link', (page) => {
  const targets = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!)
  const local = targets.filter((target) => !/^[a-z]+:/.test(target))
  expect(local.filter((target) => isDead(page, target))).toEqual([])
})

test('every decision is listed in docs/architecture.md', () => {
  const decisions = readdirSync(join(root, 'docs/adr')).map((name) => `adr/${name}`)
  const page = read('docs/architecture.md')
  expect(decisions.filter((path) => !page.includes(`](${path})`))).toEqual([])
})
