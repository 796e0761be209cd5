import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

export const fewerRuns = {
  name: 'fewer-runs',
  enforce: 'pre',
  resolveId(source, importer) {
    const replacement = here('fewer-runs.ts')
    if (source === 'fast-check' && !importer?.startsWith(replacement) && process.env.FULL_RUNS !== '1')
      return replacement
    return undefined
  },
}

/** What all runtimes share: the same files, on the sources. */
export const shared = {
  root: here('../..'),
  // Vite keeps what it prepares for a browser apart from what `npx vitest` keeps.
  cacheDir: here('node_modules/.vite'),
  test: {
    include: ['packages/core/test/**/*.test.ts'],
    setupFiles: [here('identity.ts')],
    // Only for a test that hangs: a property may well take ten seconds on a busy machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Expected files are compared, never written.
    update: 'none',
  },
}

const conditions = ['@streamfold/source', ...defaultServerConditions]

// A process per file is half of the work. Its own gets a file that replaces modules or the clock, and one that listens on sockets.
const NEEDS_ITS_OWN = ['vi.mock(', 'vi.useFakeTimers(', 'startFakeEndpoint(', 'node:http', 'node:net']
const TESTS = 'packages/core/test'
const ownProcess = readdirSync(join(shared.root, TESTS), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `${TESTS}/${file}`)
  .filter((file) => {
    const source = readFileSync(join(shared.root, file), 'utf8')
    return NEEDS_ITS_OWN.some((sign) => source.includes(sign))
  })

export default defineConfig({
  ...shared,
  plugins: [fewerRuns],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      { extends: true, test: { ...shared.test, name: 'together', isolate: false, exclude: ownProcess } },
      // An empty list would mean all of them.
      ...(ownProcess.length > 0
        ? [{ extends: true, test: { ...shared.test, name: 'apart', include: ownProcess } }]
        : []),
    ],
  },
})
