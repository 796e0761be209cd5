import { fileURLToPath } from 'node:url'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

const conditions = ['@streamfold/source', ...defaultServerConditions]

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['*.test.ts'],
    // Sockets are counted and memory is measured: one file after the other.
    fileParallelism: false,
    testTimeout: 120_000,
    execArgv: ['--expose-gc'],
  },
})
