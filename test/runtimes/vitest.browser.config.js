import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { playwright } from '@vitest/browser-playwright'
import { defaultClientConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { NOT_IN_A_BROWSER } from './not-in-a-browser.js'
import { fewerRuns, shared } from './vitest.config.js'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

/** Modules of Node that tests use for small things, and files of the tests that do so. */
const REPLACED = {
  'node:fs': here('browser/fs.ts'),
  'node:path': here('browser/path.ts'),
  'node:url': here('browser/url.ts'),
  'node:util': here('browser/util.ts'),
  './zlib-crc32.ts': here('browser/crc32.ts'),
}

/** Folders that tests read; `browser/fs.ts` has their files from here, byte by byte. */
const READ_BY_TESTS = ['corpus', 'packages/core/test/faults']
const FILES_MODULE = 'virtual:files'

const standIns = {
  name: 'stand-ins',
  enforce: 'pre',
  resolveId: (source) => (source === FILES_MODULE ? `\0${source}` : REPLACED[source]),
  load(id) {
    if (id !== `\0${FILES_MODULE}`) return undefined
    const files = READ_BY_TESTS.flatMap((folder) =>
      readdirSync(join(shared.root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name)),
    ).map((path) => [path, readFileSync(path, 'base64')])
    return `export const ROOT = ${JSON.stringify(shared.root)}\nexport const FILES = ${JSON.stringify(Object.fromEntries(files))}`
  },
  // Vite takes these for assets and rewrites their paths.
  transform: (code, id) =>
    id.startsWith(join(shared.root, 'packages/core/test/'))
      ? { code: code.replaceAll(/\bnew URL\((?=')/g, 'new URL(/* @vite-ignore */ '), map: null }
      : undefined,
}

export default defineConfig({
  ...shared,
  plugins: [fewerRuns, standIns],
  resolve: { conditions: ['@streamfold/source', ...defaultClientConditions] },
  optimizeDeps: { include: ['fast-check'] },
  test: {
    ...shared.test,
    exclude: Object.keys(NOT_IN_A_BROWSER),
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      instances: [{ browser: 'chromium' }],
      provider: playwright({
        launchOptions: {
          executablePath: process.env.CHROMIUM,
          args: [
            '--no-sandbox',
            '--disable-gpu',
            '--disable-quic',
            '--no-first-run',
            '--disable-background-networking',
            '--disable-component-update',
            '--disable-sync',
          ],
        },
      }),
    },
  },
})
