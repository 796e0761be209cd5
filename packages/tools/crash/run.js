// Starts the crash harness. It is written in TypeScript like everything else, and Node 20 reads none: vite loads it.
import process from 'node:process'
import { createServer, defaultServerConditions } from 'vite'

const conditions = ['@streamfold/source', ...defaultServerConditions]
const vite = await createServer({
  root: new URL('..', import.meta.url).pathname,
  configFile: false,
  logLevel: 'error',
  appType: 'custom',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  resolve: { conditions },
  ssr: { resolve: { conditions }, noExternal: [/^streamfold/] },
})
try {
  const { main } = await vite.ssrLoadModule('/crash/main.ts')
  process.exitCode = await main(process.argv.slice(2))
} finally {
  await vite.close()
}
