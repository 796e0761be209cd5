// Runs the commands of docs/diagnosis.md and compares what they print with the page. A line `…` there stands for any number of lines.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(new URL('../../docs/diagnosis.md', import.meta.url), 'utf8')
const BLOCK = /^```console(?: exit=(\d+))?\n\$ npx streamfold (.+)\n([\s\S]*?)^```$/gm

let failed = 0
let ran = 0
for (const [, exit = '0', command, expected] of page.matchAll(BLOCK)) {
  ran++
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['packages/cli/bin/streamfold.js', ...command.split(' ')],
    { cwd: root, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
  )
  console.log(`$ streamfold ${command}\n\n${stdout}${stderr}`)
  if (status === Number(exit) && matches(stdout, expected)) continue
  failed++
  console.log(`FAIL: exit ${status} where ${exit} is expected, and this should have been printed:\n\n${expected}`)
}
console.log(
  failed === 0 && ran > 0 ? `ok: ${ran} commands as in docs/diagnosis.md` : `FAIL: ${failed} of ${ran} commands`,
)
if (failed > 0 || ran === 0) process.exitCode = 1

function matches(printed, expected) {
  const pattern = expected
    .split(/^…\n/m)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('(?:.*\\n)*')
  return new RegExp(`^${pattern}$`).test(printed)
}
