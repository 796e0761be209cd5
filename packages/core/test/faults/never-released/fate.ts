import { adapterFor } from '../../../src/adapters/index.ts'
import type { Api } from '../../../src/adapters/index.ts'
import { callsOf, run } from '../run.ts'
import type { Run } from '../run.ts'

/** Reads a body of a format. */
export function read(api: Api, body: string | Uint8Array): Run {
  return run(body, { adapter: adapterFor(api) })
}

/** What became of the stream, then of its calls. */
export function fateOf(result: Run): readonly string[] {
  const { outcome, error } = result.report
  return [error === null ? String(outcome) : `${outcome} ${error.code}`, ...callsOf(result)]
}
