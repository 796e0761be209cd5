import { fileURLToPath } from 'node:url'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// Tests run on the sources, with no build in between. Without `module`: Node does not know that condition, and what some
// packages keep behind it is for bundlers only.
const conditions = ['@streamfold/source', ...defaultServerConditions.filter((condition) => condition !== 'module')]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Not a measure of speed: machines may be busy, and a property may need its runs.
    testTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'core', root: 'packages/core', include: ['test/**/*.test.ts'] } },
      { extends: true, test: { name: 'cli', root: 'packages/cli', include: ['test/**/*.test.ts'] } },
      { extends: true, test: { name: 'recording', root: 'packages/recording', include: ['test/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'tools',
          root: 'packages/tools',
          include: ['test/**/*.test.ts'],
          globalSetup: [fileURLToPath(new URL('packages/tools/test/postgres-setup.ts', import.meta.url))],
        },
      },
      { extends: true, test: { name: 'repo', root: 'test/repo', include: ['**/*.test.ts'] } },
    ],
  },
})
