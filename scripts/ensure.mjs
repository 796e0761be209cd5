// Makes a fresh clone ready: installs what package-lock.json asks for and is not there, then builds what changed.
// `npm start`, `npm test` and `npm pack` run this first. It speaks on stderr only, so stdout belongs to what comes after.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

function say(line) {
  process.stderr.write(`streamfold: ${line}\n`)
}

function run(command, args, options) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], ...options })
  if (error) say(error.message)
  return status ?? 1
}

function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(new URL(`../${lockFile}`, import.meta.url), 'utf8')).packages
  } catch {
    return undefined
  }
}

// npm writes node_modules/.package-lock.json last, so a broken-off install does not count. Contents are compared, not
// times: git does not keep times. Optional packages are for other platforms and may be absent.
function installed() {
  const wanted = packagesOf('package-lock.json')
  const present = packagesOf('node_modules/.package-lock.json')
  if (!wanted || !present) return false
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      optional ||
      !path.includes('node_modules/') ||
      (present[path]?.version === version && existsSync(new URL(`../${path}`, import.meta.url))),
  )
}

function install() {
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = process.env.npm_execpath
  return npm ? run(process.execPath, [npm, ...args]) : run('npm', args, { shell: process.platform === 'win32' })
}

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  say(`Node 20.19 or newer is needed, this is ${process.versions.node}`)
  process.exit(1)
}

if (!installed()) {
  say('installing dependencies (npm ci), about a minute …')
  if (install() !== 0) {
    say('npm ci failed; its own message is above')
    process.exit(1)
  }
}

if (!existsSync(new URL('../packages/cli/dist/main.js', import.meta.url))) say('building (tsc -b), some seconds …')
if (run(process.execPath, ['node_modules/typescript/bin/tsc', '-b']) !== 0) {
  say('the build (tsc -b) failed; its own message is above')
  process.exit(1)
}
