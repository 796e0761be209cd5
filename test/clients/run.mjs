// Runs the clients that people use against a real server. Installs what package-lock.json beside it asks for and is not there.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))

const packagesOf = (path) =>
  existsSync(join(here, path)) ? JSON.parse(readFileSync(join(here, path), 'utf8')).packages : {}

const present = packagesOf('node_modules/.package-lock.json')
const installed = Object.entries(packagesOf('package-lock.json')).every(
  ([path, { version, optional }]) => optional || path === '' || present[path]?.version === version,
)
if (!installed) {
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', args, { cwd: here, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
}
const tsc = join(root, 'node_modules/typescript/bin/tsc')
const types = spawnSync(process.execPath, [tsc, '-p', here], { stdio: 'inherit' }).status ?? 1
if (types !== 0) process.exit(types)
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const args = [vitest, 'run', '--config', join(here, 'vitest.config.js'), ...process.argv.slice(2)]
process.exit(spawnSync(process.execPath, args, { cwd: here, stdio: 'inherit' }).status ?? 1)
