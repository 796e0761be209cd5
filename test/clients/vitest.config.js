import { fileURLToPath } from 'node:url'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const conditions = ['@streamfold/source', ...defaultServerConditions]

/** The examples name the packages that their users install; here they are the ones of this folder. */
const packagesOfExamples = {
  name: 'packages-of-examples',
  enforce: 'pre',
  resolveId(source, importer) {
    if (!importer?.startsWith(here('../../examples/')) || /^[./]|^node:|^streamfold/.test(source)) return undefined
    return this.resolve(source, here('clients.ts'), { skipSelf: true })
  },
}

export default defineConfig({
  root: here('../..'),
  cacheDir: here('node_modules/.vite'),
  plugins: [packagesOfExamples],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['test/clients/*.test.ts'],
    // Only for a test that hangs.
    testTimeout: 30_000,
  },
})
