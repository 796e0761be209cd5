import type { Recording } from 'streamfold/recording'
import { editBody, NO_BYTES } from '../faults/edit-body.ts'
import { bodyUnits } from '../replay/body-units.ts'
import type { BodyUnit } from '../replay/body-units.ts'
import { bodyOf, recordingOfScript, scriptOf } from '../replay/replay-script.ts'
import type { ReplayScript } from '../replay/replay-script.ts'

export interface MinimizeOptions {
  readonly onProgress?: (progress: { readonly tries: number; readonly units: number }) => void
  readonly signal?: AbortSignal
  /** How often the question may be asked. Default 2000. */
  readonly maxTries?: number
}

export interface Minimized {
  readonly recording: Recording
  /** Events, comments and lines, before and after. */
  readonly unitsBefore: number
  readonly unitsAfter: number
  readonly bytesBefore: number
  readonly bytesAfter: number
  readonly tries: number
  /** False when `maxTries` ended the search: what is left may still hold more than it must. */
  readonly minimal: boolean
}

/** The recording does not fail in the way that is asked for, so there is nothing to keep. */
export class NothingToMinimize extends Error {
  override readonly name = 'NothingToMinimize'
}

/**
 * The smallest part of a recording that still fails: whole events are left out, by delta debugging (Zeller), until none can go. Times,
 * head and end stay those of what is kept. `fails` is asked about one candidate after another, and first about the recording itself.
 *
 * @throws NothingToMinimize when `fails` says no to the recording itself
 */
export async function minimize(
  recording: Recording,
  fails: (candidate: Recording) => boolean | Promise<boolean>,
  { onProgress, signal, maxTries = 2000 }: MinimizeOptions = {},
): Promise<Minimized> {
  const script = scriptOf(recording)
  const body = bodyOf(script)
  const { units } = bodyUnits(body)
  let tries = 0
  const ask = async (kept: readonly BodyUnit[]): Promise<boolean> => {
    signal?.throwIfAborted()
    tries++
    onProgress?.({ tries, units: kept.length })
    return await fails(withOnly(script, units, kept, recording))
  }
  if (!(await ask(units))) throw new NothingToMinimize('the recording does not fail in the way that is to be kept')
  let kept = units
  let parts = 2
  for (;;) {
    const size = Math.ceil(kept.length / Math.min(parts, kept.length))
    const smaller = await firstOf(partsLeftOut(kept, size), ask, () => tries < maxTries)
    if (smaller !== undefined) {
      kept = smaller
      parts = Math.max(2, parts - 1)
    } else parts *= 2
    const isDone = smaller === undefined && size <= 1
    if (isDone || kept.length === 0 || tries >= maxTries) break
  }
  const result = withOnly(script, units, kept, recording)
  return {
    recording: result,
    unitsBefore: units.length,
    unitsAfter: kept.length,
    bytesBefore: body.length,
    bytesAfter: kept.reduce((sum, { from, to }) => sum + to - from, 0),
    tries,
    minimal: tries < maxTries,
  }
}

/** The list without one part after another. */
function* partsLeftOut(kept: readonly BodyUnit[], size: number): Generator<readonly BodyUnit[], void, undefined> {
  for (let from = 0; from < kept.length; from += size) yield [...kept.slice(0, from), ...kept.slice(from + size)]
}

async function firstOf(
  candidates: Iterable<readonly BodyUnit[]>,
  ask: (candidate: readonly BodyUnit[]) => Promise<boolean>,
  mayAsk: () => boolean,
): Promise<readonly BodyUnit[] | undefined> {
  for (const candidate of candidates) {
    if (!mayAsk()) return undefined
    if (await ask(candidate)) return candidate
  }
  return undefined
}

function withOnly(
  script: ReplayScript,
  units: readonly BodyUnit[],
  kept: readonly BodyUnit[],
  recording: Recording,
): Recording {
  const keep = new Set(kept)
  const edits = units.filter((unit) => !keep.has(unit)).map((unit) => ({ ...unit, bytes: NO_BYTES }))
  return recordingOfScript(editBody(script, edits), recording)
}
