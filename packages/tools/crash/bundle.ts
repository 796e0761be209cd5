import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { build, defaultServerConditions } from 'vite'

const conditions = ['@streamfold/source', ...defaultServerConditions]
const root = join(import.meta.dirname, '../../..')

/** Makes a program that plain Node can run out of one of these files, and gives its path. Packages stay where they are. */
export async function bundleProgram(entry: 'child.ts' | 'power-loss-child.ts'): Promise<string> {
  const cache = join(root, 'node_modules/.cache/streamfold-crash')
  mkdirSync(cache, { recursive: true })
  // Of its own for every caller: two test runs may bundle at once.
  const outDir = mkdtempSync(join(cache, 'worker-'))
  await build({
    root: join(import.meta.dirname, '..'),
    configFile: false,
    logLevel: 'error',
    resolve: { conditions },
    ssr: { resolve: { conditions }, noExternal: [/^streamfold/] },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      minify: false,
      sourcemap: true,
      target: 'node20',
      rolldownOptions: {
        input: { worker: join(import.meta.dirname, entry) },
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
      },
    },
  })
  return join(outDir, 'worker.mjs')
}
