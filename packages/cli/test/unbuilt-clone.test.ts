import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

test('in a clone that is not built the command says what to do', () => {
  const clone = mkdtempSync(join(tmpdir(), 'streamfold-'))
  onTestFinished(() => rmSync(clone, { recursive: true }))
  cpSync(fileURLToPath(new URL('../bin', import.meta.url)), join(clone, 'bin'), { recursive: true })
  writeFileSync(join(clone, 'package.json'), '{ "type": "module" }')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(clone, 'bin/streamfold.js'), 'inspect', 'x.sse'],
    {
      encoding: 'utf8',
    },
  )
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: 'streamfold: this clone is not built yet; run npm run build first\n',
  })
})
