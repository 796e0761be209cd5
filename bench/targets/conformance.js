import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** T1: the table of the standard's rules, each whole, cut at every byte and byte by byte; run by the core's own tests. */
export function measureConformance() {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  let out
  try {
    out = execFileSync(
      'npx',
      ['--no-install', 'vitest', 'run', '--project', 'core', 'test/sse/conformance.test.ts', '--reporter=json'],
      {
        cwd: root,
        encoding: 'utf8',
        maxBuffer: 1 << 28,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    )
  } catch (error) {
    out = error.stdout
  }
  const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(out)
  return { passed, failed }
}
