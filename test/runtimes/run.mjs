// Runs the core's tests on every runtime that they must pass on, one after the other. Installs what
// test/runtimes/package-lock.json asks for and is not there; only Chromium has to be on the machine.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { NOT_IN_A_BROWSER } from './not-in-a-browser.js'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium'
/** One that hangs must not hang the rest. */
const PATIENCE_MS = 20 * 60_000

const { devDependencies, optionalDependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))

/** @param {string} name */
function nodeRuntime(name) {
  const [, version] = optionalDependencies[name].split('@')
  return { name, program: join(here, 'node_modules', name, 'bin/node'), flags: [], says: `process.version v${version}` }
}

/** `says` is what `identity.ts` has every test say that ran inside. */
const RUNTIMES = [
  nodeRuntime('node20'),
  nodeRuntime('node22'),
  nodeRuntime('node24'),
  {
    name: 'bun',
    program: join(here, 'node_modules/.bin/bun'),
    flags: ['--bun'],
    says: `Bun.version ${devDependencies.bun}`,
  },
  {
    name: 'deno',
    program: join(here, 'node_modules/.bin/deno'),
    flags: ['run', '--allow-all'],
    says: `Deno.version ${devDependencies.deno}`,
  },
  { name: 'chromium', program: chromium, page: true },
]

const { values, positionals } = parseArgs({ options: { full: { type: 'boolean' } }, allowPositionals: true })
const unknown = positionals.filter((name) => !RUNTIMES.some((runtime) => runtime.name === name))
if (unknown.length > 0) {
  console.error(`no such runtime: ${unknown.join(', ')} (there are ${RUNTIMES.map(({ name }) => name).join(', ')})`)
  process.exit(1)
}

const packagesOf = (path) =>
  existsSync(join(here, path)) ? JSON.parse(readFileSync(join(here, path), 'utf8')).packages : {}

/** Optional packages of other platforms are never there. */
function isInstalled() {
  const present = packagesOf('node_modules/.package-lock.json')
  return Object.entries(packagesOf('package-lock.json')).every(
    ([path, { version, optional }]) =>
      path === '' || (path in present ? present[path].version === version && existsSync(join(here, path)) : optional),
  )
}

if (!isInstalled()) {
  console.log('installing the runtimes (npm ci in test/runtimes), about a minute …')
  const { status } = spawnSync('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: here,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
}

const tests = readdirSync(join(root, 'packages/core/test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `packages/core/test/${file}`)
const gone = Object.keys(NOT_IN_A_BROWSER).filter((file) => !tests.includes(file))
if (gone.length > 0) {
  console.error(`not-in-a-browser.js names files that are not there: ${gone.join(', ')}`)
  process.exit(1)
}

/** Vitest's own report, or undefined when there is none, with what it printed. */
function runTests({ program, flags, page }) {
  const folder = mkdtempSync(join(tmpdir(), 'streamfold-runtimes-'))
  const file = join(folder, 'results.json')
  // The tests of a page are handed out by the Node at hand.
  const command = page ? [process.execPath, vitest] : [program, ...flags, vitest]
  const config = join(here, page ? 'vitest.browser.config.js' : 'vitest.config.js')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const { status, error, stdout, stderr } = spawnSync(
    command[0],
    [...command.slice(1), 'run', '--config', config, ...reporters],
    {
      cwd: root,
      env: { ...process.env, CHROMIUM: chromium, FULL_RUNS: values.full ? '1' : '0' },
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      timeout: PATIENCE_MS,
    },
  )
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
  rmSync(folder, { recursive: true })
  return { status, report, output: [stdout, stderr, error?.message].filter(Boolean).join('\n') }
}

/** What a page says of its version: all but the first number is zero. */
function pageSays() {
  const [, major] = /(\d+)\./.exec(spawnSync(chromium, ['--version'], { encoding: 'utf8' }).stdout) ?? []
  return new RegExp(`^navigator\\.userAgent .* HeadlessChrome/${major}\\.`)
}

/** Whether the runtime passes; says so in one line, with the reasons in front of it when it does not. */
function passes(runtime) {
  const { name, says = pageSays(), page } = runtime
  const start = performance.now()
  const { status, report, output } = runTests(runtime)
  const results = report?.testResults.flatMap(({ assertionResults }) => assertionResults) ?? []
  const count = (...states) => results.filter(({ status: state }) => states.includes(state)).length
  const passed = count('passed')
  const failed = count('failed')
  const heard = new Set(results.flatMap(({ status: state, meta }) => (state === 'passed' ? [meta.runtime] : [])))
  const strangers = [...heard].filter((said) => (typeof says === 'string' ? said !== says : !says.test(said)))
  const files = report?.testResults.map(({ name: file }) => file) ?? []
  const ran = new Set(files)
  const twice = files.filter((file, i) => files.indexOf(file) !== i)
  const missing = tests.filter((file) => !(page && file in NOT_IN_A_BROWSER) && !ran.has(join(root, file)))

  const reasons = [
    ...(failed > 0 || status !== 0 ? [`${output}\n${name}: ended with exit code ${status}`] : []),
    ...(passed === 0 ? [`${name}: no test ran`] : missing.map((file) => `${name}: ${file} did not run`)),
    ...twice.map((file) => `${name}: ${file} ran twice`),
    ...strangers.map((said) => `${name}: a test ran in ${said}, not in ${says}`),
  ]
  for (const reason of reasons) console.log(reason)
  const seconds = Math.round((performance.now() - start) / 1000)
  const counts = `${passed} passed, ${failed} failed, ${results.length - passed - failed} skipped`
  console.log(
    `${name.padEnd(9)} ${reasons.length > 0 ? 'FAILED' : 'ok'}  ${counts} in ${ran.size} files, ${seconds} s (${[...heard].join(', ')})`,
  )
  return reasons.length === 0
}

let failures = 0
for (const runtime of RUNTIMES) {
  if (positionals.length > 0 && !positionals.includes(runtime.name)) continue
  if (!existsSync(runtime.program)) {
    console.log(
      runtime.page
        ? `chromium  FAILED  ${chromium} is not there: apt-get install chromium, or set CHROMIUM to its path`
        : `${runtime.name.padEnd(9)} FAILED  there is none for ${process.platform} on ${process.arch}`,
    )
    failures++
  } else if (!passes(runtime)) failures++
}
process.exit(failures > 0 ? 1 : 0)
