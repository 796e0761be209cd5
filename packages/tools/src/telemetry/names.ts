/**
 * Names of OpenTelemetry's GenAI conventions. They are copied, for the package that has them deprecates all of them: the
 * conventions are still moving. `1.41` is what most dashboards know, `latest` what is being written.
 *
 * @see https://github.com/open-telemetry/semantic-conventions-genai
 */
export type Semconv = '1.41' | 'latest' | 'both'

/** Instruments that record the same thing under the names of each version. */
interface MetricNames {
  readonly '1.41': string
  readonly latest: string
}

export const TOOL_DURATION: MetricNames = {
  '1.41': 'gen_ai.client.operation.duration',
  latest: 'gen_ai.execute_tool.duration',
}

export const INFERENCE_DURATION: MetricNames = {
  '1.41': 'gen_ai.client.operation.duration',
  latest: 'gen_ai.client.inference.duration',
}

export const TIME_TO_FIRST_CHUNK: MetricNames = {
  '1.41': 'gen_ai.client.operation.time_to_first_chunk',
  latest: 'gen_ai.client.inference.time_to_first_chunk',
}

export const TOKEN_USAGE = 'gen_ai.client.token.usage'
export const INPUT_TOKENS = 'gen_ai.client.inference.usage.input_tokens'
export const OUTPUT_TOKENS = 'gen_ai.client.inference.usage.output_tokens'

/** How calls ended, refused ones included. No convention has a name for it. */
export const TOOL_CALL_STATE = 'streamfold.tool_call.state'
/** Calls that were answered from the ledger instead of being run again. */
export const DUPLICATE_SUPPRESSED = 'streamfold.tool_call.duplicate_suppressed'

/** Seconds. */
export const DURATION_BUCKETS: readonly number[] = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
]

/** Tokens: powers of four. */
export const TOKEN_BUCKETS: readonly number[] = Array.from({ length: 14 }, (_, power) => 4 ** power)

/** The names to record under. */
export function namesFor(names: MetricNames, semconv: Semconv): readonly string[] {
  if (semconv === 'both') return [...new Set([names['1.41'], names.latest])]
  return [names[semconv]]
}
