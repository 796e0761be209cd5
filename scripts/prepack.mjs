// `npm pack` and `npm publish` run this in the folder of each package: dist is built, or nothing is packed. The pages of the project go
// into the package of the library, where links to what is not packed are only words.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const library = join(root, 'packages/core')
const PAGES_AT_ROOT = ['README.md', 'README.zh-CN.md', 'CHANGELOG.md']

// On stderr, like all it says: stdout is the list of `npm pack --json`.
const { status } = spawnSync(process.execPath, [join(root, 'scripts/ensure.mjs')], { stdio: ['ignore', 2, 2] })
if (status !== 0) process.exit(status ?? 1)

if (resolve(process.cwd()) === library) packPages()

function packPages() {
  rmSync(join(library, 'docs'), { recursive: true, force: true })
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join('docs', name.replaceAll('\\', '/')))
    .filter((path) => path.endsWith('.md'))
  for (const path of [...PAGES_AT_ROOT, ...pages]) {
    mkdirSync(dirname(join(library, path)), { recursive: true })
    writeFileSync(join(library, path), packed(path, [...PAGES_AT_ROOT, ...pages]))
  }
}

/** A page as it stands in the package, where the folder of the library is the root. */
function packed(path, pages) {
  // Code, in blocks and in lines, is passed over.
  const CODE_OR_LINK = /^```[\s\S]*?^```$|`[^`\n]*`(?!\])|\[([^\]\n]+)\]\(([^)\s]+)\)/gm
  return readFileSync(join(root, path), 'utf8').replaceAll(CODE_OR_LINK, (found, words, target) => {
    if (target === undefined || /^[a-z]+:|^#/.test(target)) return found
    const [file, anchor] = target.split('#')
    const inRepository = posix.join(posix.dirname(path), file)
    const inPackage = inRepository.replace(/^packages\/core\//, '')
    const isPacked =
      pages.includes(inPackage) ||
      ['LICENSE', 'docs', 'docs/adr'].includes(inPackage) ||
      (inPackage !== inRepository && /^(src|schema)(\/|$)/.test(inPackage))
    if (!isPacked) return words
    const relative = posix.relative(posix.dirname(path), inPackage)
    return `[${words}](${relative}${anchor === undefined ? '' : `#${anchor}`})`
  })
}
