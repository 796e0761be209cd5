import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const dist = fileURLToPath(new URL('../../packages/core/dist/', import.meta.url))

/** kB (1000 bytes) after minifying and gzip. */
async function sizeOf(code) {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: dist, loader: 'js' },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  })
  return gzipSync(outputFiles[0].contents, { level: 9 }).length / 1000
}

export async function measureSizes() {
  return {
    sse: await sizeOf("export { createEventStreamParser } from './sse/index.js'"),
    core: await sizeOf(
      "export { createStreamEngine } from './engine/index.js'; export { chatCompletions } from './adapters/openai-chat/index.js'; export { streamResponse, parseEventStream } from './client/index.js'",
    ),
  }
}
