/** Every test says in its result which runtime it ran in; `run.mjs` compares that with the one that it started. */
import { beforeEach } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    runtime?: string
  }
}

const { Bun, Deno, document, process } = globalThis as {
  Bun?: { version: string }
  Deno?: { version: { deno: string } }
  document?: object
  process?: { version?: string }
}

function runtime(): string {
  if (Deno) return `Deno.version ${Deno.version.deno}`
  if (Bun) return `Bun.version ${Bun.version}`
  if (document) return `navigator.userAgent ${navigator.userAgent}`
  return `process.version ${process?.version}`
}
const here = runtime()

beforeEach(({ task }) => {
  task.meta.runtime = here
})
