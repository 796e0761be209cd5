import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { faultsPage } from '../src/report-text/faults-page.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const inClone = join(root, 'packages/core/dist/index.js')

test('in a clone it is the page of the repository', () => {
  expect(faultsPage(inClone, root)).toBe(join('docs', 'faults.md'))
})

test('from elsewhere the whole path is told', () => {
  expect(faultsPage(inClone, join(root, 'packages'))).toBe(join(root, 'docs', 'faults.md'))
})

test('an app with a page of that name is not taken for a clone', () => {
  const app = mkdtempSync(join(tmpdir(), 'streamfold-'))
  onTestFinished(() => rmSync(app, { recursive: true }))
  const library = join(app, 'node_modules/streamfold')
  for (const path of [join(app, 'docs/faults.md'), join(library, 'docs/faults.md'), join(library, 'dist/index.js')]) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, '')
  }
  const page = join('node_modules', 'streamfold', 'docs', 'faults.md')
  expect(faultsPage(join(library, 'dist/index.js'), app)).toBe(page)
})
