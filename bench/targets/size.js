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

const SSE = "export { createEventStreamParser } from './sse/index.js'"
const CHAT = "export { chatCompletions } from './adapters/openai-chat/index.js'"
const ACCUMULATOR = "export { createStreamAccumulator } from './accumulate/index.js'"

export async function measureSizes() {
  const [sse, mapped, unjudged, core] = await Promise.all(
    [
      [SSE],
      ["export { mapEventStream } from './client/index.js'", ACCUMULATOR],
      [SSE, CHAT, ACCUMULATOR],
      [
        "export { createStreamEngine } from './engine/index.js'",
        CHAT,
        "export { streamResponse, parseEventStream } from './client/index.js'",
      ],
    ].map((exports) => sizeOf(exports.join('\n'))),
  )
  return { sse, mapped, unjudged, core }
}
