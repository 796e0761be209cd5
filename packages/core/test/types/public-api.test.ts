import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url))
const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')

interface Declaration {
  readonly file: string
  /** Without comments. */
  readonly text: string
}

let outDir: string
let declarations: readonly Declaration[]

beforeAll(async () => {
  outDir = await mkdtemp(join(tmpdir(), 'streamfold-types-'))
  const options = ['--emitDeclarationOnly', '--declarationMap', 'false', '--outDir', outDir]
  await promisify(execFile)(process.execPath, [
    TSC,
    '-p',
    PACKAGE,
    ...options,
    '--tsBuildInfoFile',
    join(outDir, 'info'),
  ])
  declarations = await reachable(join(outDir, 'index.d.ts'))
}, 60_000)

afterAll(() => rm(outDir, { recursive: true, force: true }))

/** The declaration file and all that it imports from, each once. */
async function reachable(entry: string): Promise<readonly Declaration[]> {
  const found = new Map<string, Declaration>()
  const open = [entry]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue
    const text = withoutComments(await readFile(file, 'utf8'))
    found.set(file, { file, text })
    for (const [, path] of text.matchAll(/from '(\.{1,2}\/[^']+)'/g)) {
      open.push(resolve(dirname(file), path!.replace(/\.[jt]s$/, '.d.ts')))
    }
  }
  return [...found.values()]
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '')
}

describe('the declarations of the public API', () => {
  test('are more than the index', () => {
    expect(declarations.length).toBeGreaterThan(20)
    expect(declarations.some(({ text }) => text.includes('tool_batch_ready'))).toBe(true)
  })

  test('have no `any`', () => {
    const lines = declarations.flatMap(({ file, text }) =>
      text
        .split('\n')
        .filter((line) => /\bany\b/.test(line))
        .map((line) => `${file.slice(outDir.length + 1)}: ${line.trim()}`),
    )
    expect(lines).toEqual([])
  })

  test('need no package', () => {
    const foreign = declarations.flatMap(({ text }) =>
      [...text.matchAll(/from '([^.'][^']*)'/g)].map(([, name]) => name),
    )
    expect(foreign).toEqual([])
  })
})

test('an `any` outside of comments would be found', () => {
  expect(/\bany\b/.test(withoutComments('/** any */ export declare const a: any // many'))).toBe(true)
  expect(/\bany\b/.test(withoutComments('/** any */ export declare const a: 1 // any'))).toBe(false)
})
