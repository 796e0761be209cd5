import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// Tests run on the sources, with no build in between.
const conditions = ['@streamfold/source', ...defaultServerConditions]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Not a measure of speed: machines may be busy, and a property may need its runs.
    testTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'core', root: 'packages/core', include: ['test/**/*.test.ts'] } },
      { extends: true, test: { name: 'cli', root: 'packages/cli', include: ['test/**/*.test.ts'] } },
      { extends: true, test: { name: 'repo', root: 'test/repo', include: ['**/*.test.ts'] } },
    ],
  },
})
