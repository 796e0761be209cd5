import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Recording } from 'streamfold/recording'
import { applyFaults } from '../faults/apply-faults.ts'
import { parseFaults } from '../faults/fault-spec.ts'
import { portableName } from '../file/device-name.ts'
import { formatRecordings, PRIVATE_FILE } from '../file/recording-file.ts'
import { cutOffsets, parseCutPlan, refineScript } from '../replay/cut-plan.ts'
import { bodyOf, recordingOfScript, scriptOf } from '../replay/replay-script.ts'
import type { SampleFailure } from './check-sample.ts'
import type { GoldenSample } from './golden-sample.ts'

/**
 * Keeps the very stream of each failing cut and fault as a recording, which replays without the plan that made it: a new sample, to be
 * given an expected file once it is understood. Gives the files, of which one that is there already is written again.
 */
export function saveFailures(
  sample: GoldenSample,
  failures: readonly SampleFailure[],
  folder: string,
  seed: number,
): readonly string[] {
  const failing = failures.filter(({ plan, fault }) => plan !== undefined || fault !== undefined)
  if (failing.length > 0) mkdirSync(folder, { recursive: true })
  return failing.map((failure) => {
    const file = join(folder, `${fileNameOf(sample, failure)}.stream.jsonl`)
    writeFileSync(file, formatRecordings([failingStream(sample, failure, seed)]), { mode: PRIVATE_FILE })
    return file
  })
}

/** The stream that a failure was seen in, its cuts and faults made. */
export function failingStream(
  sample: Pick<GoldenSample, 'api' | 'options' | 'recording'>,
  { plan, fault }: Pick<SampleFailure, 'plan' | 'fault'>,
  seed: number,
): Recording {
  const { api, recording } = sample
  const { profile } = sample.options
  const whole = scriptOf(recording)
  const { script } =
    fault === undefined ? { script: whole } : applyFaults(whole, parseFaults(fault), { api, profile, seed })
  const offsets = plan === undefined ? undefined : cutOffsets(parseCutPlan(plan), bodyOf(script))
  const cut = offsets === undefined ? script : refineScript(script, offsets)
  const made = [fault, plan].filter((part) => part !== undefined).join(' ')
  const base = {
    ...recording,
    head: { ...recording.head, api, other: { ...recording.head.other, madeBy: `verify ${made}` } },
  }
  return recordingOfScript(cut, base)
}

function fileNameOf({ name }: GoldenSample, { plan, fault }: SampleFailure): string {
  const parts = [name, fault, plan].filter((part) => part !== undefined)
  return portableName(
    parts
      .join('--')
      .replaceAll(/[^A-Za-z0-9.-]+/g, '-')
      .slice(0, 180),
  )
}
