/**
 * The TypeScript examples of the documentation, compiled the way a user compiles them (against the built package) and run.
 * A `text` block that follows an example, or a command, is what it prints. `// not run: reason` as first line leaves an
 * example at compiling.
 */
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const answer = readFileSync(new URL('fixtures/docs-examples/weather.sse', import.meta.url))
const run = promisify(execFile)
const PLAIN: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined }
/** For a machine that is busy with other things; an example that hangs is ended then. */
const PATIENCE_MS = 60_000

/** A fenced block of a page. */
interface Block {
  /** `README.md:42`, where the block begins. */
  readonly place: string
  readonly language: string
  readonly code: string
  /** What the page says it prints: the block after it, if that is plain text and stands in the same section. */
  readonly output: string | undefined
}

const FENCE = /^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm

function blocksOf(path: string): readonly Block[] {
  const page = readFileSync(join(root, path), 'utf8')
  const found = [...page.matchAll(FENCE)].map(({ 1: language, 2: code, index }) => {
    const before = page.slice(0, index)
    const section = before.replaceAll(FENCE, '').match(/^#+ /gm)?.length ?? 0
    return { place: `${path}:${before.split('\n').length}`, language: language!, code: code!, section }
  })
  return found.map(({ section, ...block }, i) => {
    const next = found[i + 1]
    const printed = next?.language === 'text' && next.section === section
    return { ...block, output: printed ? next.code : undefined }
  })
}

const pages = [
  'README.md',
  'README.zh-CN.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  ...['cli', 'recording', 'tools'].map((name) => `packages/${name}/README.md`),
]
// A translation shows the same code; readme-in-step.test.ts sees to that.
const blocks = pages.flatMap(blocksOf).filter(({ code }, i, all) => all.findIndex((block) => block.code === code) === i)
const examples = blocks
  .filter(({ language }) => language === 'ts')
  .map((block) => ({ ...block, file: block.place.replaceAll(/[^\w]+/g, '-') }))
const commands = blocks.filter(
  ({ language, code, output }) => language === 'sh' && /^npx streamfold .+\n$/.test(code) && output !== undefined,
)

/** Answers every request like a model that wants to know the weather. */
let server: Server
/** Below the repository, where the packages are found; one of its own for each run. */
let folder: string
let env: NodeJS.ProcessEnv
let compiled: { readonly status: number | null; readonly stdout: string }

beforeAll(async () => {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  folder = mkdtempSync(join(cache, 'docs-examples-'))
  for (const { file, code } of examples) writeFileSync(join(folder, `${file}.ts`), code)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        target: 'ES2022',
        module: 'NodeNext',
        moduleDetection: 'force',
        types: ['node'],
        noEmitOnError: true,
      },
      files: examples.map(({ file }) => `${file}.ts`),
    }),
  )
  compiled = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], {
    encoding: 'utf8',
  })
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      const known = request.method === 'POST' && request.url === '/v1/chat/completions'
      response.writeHead(known ? 200 : 404, { 'content-type': 'text/event-stream; charset=utf-8' }).end(answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  env = { ...PLAIN, STREAMFOLD_BASE_URL: `http://127.0.0.1:${port}/v1`, STREAMFOLD_API_KEY: 'none' }
}, PATIENCE_MS)

afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

test('there are examples in the README', () => {
  expect(examples.filter(({ place }) => place.startsWith('README.md')).length).toBeGreaterThan(4)
})

test('the examples compile against the built package (after npm run build)', () => {
  expect(compiled.stdout).toBe('')
  expect(compiled.status).toBe(0)
})

describe('the examples run, and print what the page says', () => {
  test.each(examples.filter(({ code }) => !code.startsWith('// not run: ')))(
    '$place',
    { timeout: PATIENCE_MS },
    async ({ file, output }) => {
      const { stdout, stderr } = await run(process.execPath, [join(folder, `${file}.js`)], {
        env,
        timeout: PATIENCE_MS,
      })
      expect(stderr).toBe('')
      expect(output === undefined || lines(stdout)).toEqual(output === undefined || lines(output))
    },
  )
})

describe('the commands print what the page says (after npm run build)', () => {
  test.each(commands)('$place', { timeout: PATIENCE_MS }, ({ code, output }) => {
    const args = code.trim().split(' ').slice(2)
    const { stdout, stderr } = spawnSync(process.execPath, [join(root, 'packages/cli/bin/streamfold.js'), ...args], {
      cwd: root,
      env: PLAIN,
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    expect(lines(stdout)).toEqual(lines(output!))
  })
})

function lines(text: string): readonly string[] {
  return text.trimEnd().split('\n')
}
