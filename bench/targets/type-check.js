import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('..', import.meta.url))
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
const core = fileURLToPath(new URL('../../packages/core/dist/', import.meta.url))

const PROGRAMS = [
  ['nothing', 'export {}'],
  [
    'streamfold/sse',
    `import { createEventStreamParser } from '${core}sse/index.js'\nexport const parser = createEventStreamParser()`,
  ],
  [
    'streamfold',
    `import { streamModel } from '${core}index.js'\nexport const stream = streamModel({ api: 'chat_completions', body: {} })`,
  ],
  ['openai 6.49', `import OpenAI from 'openai'\nexport const client = new OpenAI({ apiKey: 'none' })`],
  ['ai', `import { streamText } from 'ai'\nexport const stream = streamText`],
]

/** What the compiler takes for a program that imports one package; its own total time, medians. */
export function measureTypeCheck({ rounds }) {
  const folder = mkdtempSync(join(here, 'node_modules/.types-'))
  try {
    for (const [i, [, code]] of PROGRAMS.entries()) writeFileSync(join(folder, `p${i}.ts`), code)
    const samples = PROGRAMS.map(() => [])
    // One by one and in turn, so that a busy moment of the machine is everybody's.
    for (let round = 0; round < Math.min(rounds, 5); round++) {
      for (const i of PROGRAMS.keys()) samples[i].push(check(folder, `p${i}.ts`))
    }
    return PROGRAMS.map(([name], i) => {
      const sorted = samples[i].toSorted((a, b) => a - b)
      return { name, median: sorted[sorted.length >> 1], min: sorted[0], samples: sorted }
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function check(folder, file) {
  const { stdout, status } = spawnSync(
    process.execPath,
    [
      tsc,
      '--noEmit',
      '--ignoreConfig',
      '--strict',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--skipLibCheck',
      '--extendedDiagnostics',
      file,
    ],
    { cwd: folder, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`${file} does not compile: ${stdout.slice(0, 400)}`)
  const total = Number(/Total time:\s*([\d.]+)s/.exec(stdout)?.[1])
  return total * 1000
}
