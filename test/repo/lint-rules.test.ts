import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** What each folder of core may import. This list is the rule; `.oxlintrc.json` has to agree with it. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  json: [],
  sse: [],
  chunk: ['json'],
  ndjson: ['json', 'sse'],
  'aws-event-stream': ['sse'],
  adapters: ['json', 'sse', 'chunk'],
  accumulate: ['json', 'chunk'],
  history: ['json', 'chunk', 'accumulate'],
  'tool-call': ['json', 'chunk'],
  engine: ['json', 'sse', 'ndjson', 'aws-event-stream', 'chunk', 'adapters', 'accumulate', 'tool-call'],
  recording: ['json', 'sse', 'chunk', 'engine'],
  client: [
    'json',
    'sse',
    'ndjson',
    'aws-event-stream',
    'chunk',
    'adapters',
    'accumulate',
    'tool-call',
    'engine',
    'recording',
    'server',
  ],
  server: ['chunk'],
  pace: [],
  node: ['client'],
  testing: ['chunk', 'engine'],
}
const FOLDERS = Object.keys(MAY_IMPORT)
/** Folders that are for Node alone, and may import what it brings; which packages, `dependencies.test.ts` says. */
const FOR_NODE = ['node', 'testing']
/** Folders that own no timer, start no promise, read no clock. */
const SYNCHRONOUS = [
  'json',
  'sse',
  'ndjson',
  'aws-event-stream',
  'chunk',
  'adapters',
  'accumulate',
  'history',
  'tool-call',
  'engine',
]

const IMPORTS = 'eslint(no-restricted-imports)'
const GLOBALS = 'eslint(no-restricted-globals)'
const PROPERTIES = 'eslint(no-restricted-properties)'
const ASYNC = 'oxc(no-async-await)'
const CYCLE = 'import(no-cycle)'

interface Planted {
  readonly name: string
  readonly file: string
  readonly source: string
  /** The rule that has to fire, and no other; none for a clean file. */
  readonly rule?: string
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const core = 'packages/core/src'

const importPairs: Planted[] = FOLDERS.flatMap((from) =>
  FOLDERS.filter((to) => to !== from).map((to) => {
    const allowed = MAY_IMPORT[from]!.includes(to)
    return {
      name: `${from} ${allowed ? 'may' : 'may not'} import ${to}`,
      file: `${core}/${from}/imports-${to}.ts`,
      source: `export { x } from '../${to}/x.ts'\n`,
      ...(allowed ? {} : { rule: IMPORTS }),
    }
  }),
)

const importForms: Planted[] = [
  {
    name: 'a type-only import counts',
    file: `${core}/sse/type-import.ts`,
    source: `import type { X } from '../engine/x.ts'\n\nexport type Y = X\n`,
    rule: IMPORTS,
  },
  {
    name: 'a dynamic import counts',
    file: `${core}/client/dynamic-import.ts`,
    source: `export const fs: unknown = import('node:fs')\n`,
    rule: IMPORTS,
  },
  {
    name: 'a file deeper down is held to the same rule',
    file: `${core}/adapters/openai-chat/deep.ts`,
    source: `export { x } from '../../engine/x.ts'\n`,
    rule: IMPORTS,
  },
  {
    name: 'a file deeper down may import its own stage',
    file: `${core}/adapters/openai-chat/sibling.ts`,
    source: `export { x } from '../slot.ts'\n`,
  },
  {
    name: 'no stage imports the root index',
    file: `${core}/sse/root-index.ts`,
    source: `export { x } from '../index.ts'\n`,
    rule: IMPORTS,
  },
  {
    name: 'no file imports its own index',
    file: `${core}/sse/own-index.ts`,
    source: `export { x } from './index.ts'\n`,
    rule: IMPORTS,
  },
  {
    name: 'no stage imports the package by name',
    file: `${core}/client/self.ts`,
    source: `export { x } from 'streamfold/sse'\n`,
    rule: IMPORTS,
  },
  ...FOLDERS.map((folder) => ({
    name: `${folder} ${FOR_NODE.includes(folder) ? 'may' : 'may not'} import node:fs`,
    file: `${core}/${folder}/imports-node-fs.ts`,
    source: `export { readFileSync } from 'node:fs'\n`,
    ...(FOR_NODE.includes(folder) ? {} : { rule: IMPORTS }),
  })),
  {
    name: 'the root index may not import node:fs',
    file: `${core}/imports-node.ts`,
    source: `export { readFileSync } from 'node:fs'\n`,
    rule: IMPORTS,
  },
  {
    name: 'the root index may import any stage',
    file: `${core}/index.ts`,
    source: `export { x } from './engine/index.ts'\n`,
  },
  {
    name: 'two files may not import each other',
    file: `${core}/client/cycle-a.ts`,
    source: `import { b } from './cycle-b.ts'\n\nexport const a: unknown = () => b\n`,
    rule: CYCLE,
  },
  {
    name: 'nor the other way round',
    file: `${core}/client/cycle-b.ts`,
    source: `import { a } from './cycle-a.ts'\n\nexport const b: unknown = () => a\n`,
    rule: CYCLE,
  },
]

const use = (expression: string) => `export const used: unknown = ${expression}\n`

const nodeGlobals: Planted[] = ['client', 'recording', 'engine', 'server', 'pace', 'node', 'testing'].flatMap(
  (folder) =>
    ['process', 'Buffer', 'global', 'require', 'module', '__dirname', '__filename'].map((global) => ({
      name: `${folder} may not use ${global}`,
      file: `${core}/${folder}/uses-${global}.ts`,
      source: use(global),
      rule: GLOBALS,
    })),
)

const ioGlobals: Planted[] = SYNCHRONOUS.flatMap((folder) =>
  [
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'queueMicrotask',
    'Promise',
    'Date',
    'performance',
    'fetch',
    'XMLHttpRequest',
    'WebSocket',
    'EventSource',
    'crypto',
    'globalThis',
    'self',
    'window',
  ].map((global) => ({
    name: `${folder} may not use ${global}`,
    file: `${core}/${folder}/uses-${global}.ts`,
    source: use(global),
    rule: GLOBALS,
  })),
)

const asyncCode: Planted[] = SYNCHRONOUS.flatMap((folder) => [
  {
    name: `${folder} may not declare an async function`,
    file: `${core}/${folder}/async-function.ts`,
    source: `export async function later() {\n  return 1\n}\n`,
    rule: ASYNC,
  },
  {
    name: `${folder} may not declare an async arrow function`,
    file: `${core}/${folder}/async-arrow.ts`,
    source: use('async () => 1'),
    rule: ASYNC,
  },
  {
    name: `${folder} may not declare an async generator`,
    file: `${core}/${folder}/async-generator.ts`,
    source: `export async function* later() {\n  yield 1\n}\n`,
    rule: ASYNC,
  },
  {
    name: `${folder} may not draw random numbers`,
    file: `${core}/${folder}/random.ts`,
    source: use('Math.random()'),
    rule: PROPERTIES,
  },
])

const cleanFiles: Planted[] = [
  ...FOLDERS.map((folder) => ({
    name: `a clean file in ${folder} passes`,
    file: `${core}/${folder}/clean.ts`,
    source: `export function firstByte(bytes: Uint8Array, atMs: number): number {\n  return (bytes[0] ?? 0) + atMs\n}\n`,
  })),
  {
    name: 'the client may wait',
    file: `${core}/client/waits.ts`,
    source: `export async function wait(ms: number): Promise<number> {\n  await new Promise((done) => setTimeout(done, ms))\n  return Date.now()\n}\n`,
  },
  {
    name: 'the command line may use Node',
    file: 'packages/cli/src/uses-node.ts',
    source: `import { argv } from 'node:process'\n\nexport const first: unknown = argv[0] ?? process.cwd()\n`,
  },
]

const planted = [...importPairs, ...importForms, ...nodeGlobals, ...ioGlobals, ...asyncCode, ...cleanFiles]

let copy: string
const fired = new Map<string, Set<string>>()

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'lint-rules-'))
  copyFileSync(join(root, '.oxlintrc.json'), join(copy, '.oxlintrc.json'))
  for (const { file, source } of planted) {
    mkdirSync(join(copy, dirname(file)), { recursive: true })
    writeFileSync(join(copy, file), source)
  }
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/oxlint/bin/oxlint'), '--format=json', 'packages'],
    { cwd: copy, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  )
  if (!stdout.trimStart().startsWith('{')) throw new Error(`oxlint did not run: ${stdout}${stderr}`)
  const report = JSON.parse(stdout) as { number_of_files: number; diagnostics: { filename: string; code: string }[] }
  expect(report.number_of_files).toBe(planted.length)
  for (const { filename, code } of report.diagnostics) {
    const file = filename.replaceAll('\\', '/')
    fired.set(file, (fired.get(file) ?? new Set()).add(code))
  }
}, 60_000)

afterAll(() => rmSync(copy, { recursive: true, force: true }))

describe.each([
  { what: 'imports between stages', rows: importPairs },
  { what: 'forms of import', rows: importForms },
  { what: 'Node globals in core', rows: nodeGlobals },
  { what: 'clocks, promises and I/O in the machines', rows: ioGlobals },
  { what: 'async code and randomness in the machines', rows: asyncCode },
  { what: 'clean files', rows: cleanFiles },
])('$what', ({ rows }) => {
  test.each(rows)('$name', ({ file, rule }) => {
    expect([...(fired.get(file) ?? [])]).toEqual(rule ? [rule] : [])
  })
})

describe('the sources', () => {
  const sources = readdirSync(join(root, core), { recursive: true, withFileTypes: true })

  test('every folder of core has its place in the import order', () => {
    const folders = sources.filter((entry) => entry.isDirectory() && entry.parentPath === join(root, core))
    expect(folders.map((entry) => entry.name).filter((name) => !FOLDERS.includes(name))).toEqual([])
  })

  test('no file of core switches one of these rules off', () => {
    const offenders = sources
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => {
        const disabled = readFileSync(file, 'utf8').match(/(?:ox|es)lint-disable.*/g) ?? []
        return disabled.some((line) => !/lint-disable\S*\s+\S/.test(line) || /restricted|no-async|no-cycle/.test(line))
      })
    expect(offenders).toEqual([])
  })
})
