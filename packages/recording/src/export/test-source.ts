import type { Api, StreamReport } from 'streamfold'
import type { Recording } from 'streamfold/recording'
import { formatRecordings } from '../file/recording-file.ts'
import { apiOfRecording, reportOfRecording } from '../file/recording-report.ts'

export interface TestSourceOptions {
  readonly api?: Api
  /** Name of the test. Default: what the recording was a request for. */
  readonly name?: string
}

/**
 * A vitest file that plays the recording, cut behind every byte, into the engine and expects today's outcome and calls. The
 * recording is in it, so it needs no other file. Read what it expects before you keep it: it is what came out, not what should.
 */
export function toTestSource(recording: Recording, options: TestSourceOptions = {}): string {
  const { api = apiOfRecording(recording) } = options
  const report = reportOfRecording(recording, { api })
  const name =
    options.name ?? `${recording.request?.method ?? 'a'} ${pathOf(recording.request?.url) ?? 'recorded stream'}`
  const lines = formatRecordings([recording]).trimEnd().split('\n')
  return `import { adapterFor, createStreamEngine } from 'streamfold'
import type { StreamReport } from 'streamfold'
import { readRecordings, replayInto, requestFactsOf } from 'streamfold/recording'
import { expect, test } from 'vitest'

const [recording] = readRecordings(
  [
${lines.map((line) => `    ${literal(line)},`).join('\n')}
  ].join('\\n'),
)

function play(readLength: number): StreamReport {
  const engine = createStreamEngine({
    adapter: adapterFor(${literal(api)}),
    request: requestFactsOf(recording!.request),
  })
  const reads = recording!.reads.flatMap((read) =>
    Array.from({ length: Math.ceil(read.bytes.length / readLength) }, (_, at) => ({
      ...read,
      bytes: read.bytes.subarray(at * readLength, (at + 1) * readLength),
    })),
  )
  replayInto(engine, { ...recording!, reads })
  return engine.report({ kind: 'recording' })
}

test.each([Number.MAX_SAFE_INTEGER, 1])(${literal(`${name.replaceAll('%', '%%')}, in reads of at most %d bytes`)}, (readLength) => {
  const { outcome, error, choices } = play(readLength)
  expect(outcome).toBe(${literal(report.outcome ?? '')})
  expect(error?.code ?? null).toBe(${report.error === null ? 'null' : literal(report.error.code)})
  const calls = choices.flatMap(({ toolCalls }) => toolCalls)
  expect(calls.map(({ name, argumentsText, state, code }) => ({ name, argumentsText, state, code }))).toEqual(${callsLiteral(report)})
})
`
}

function callsLiteral(report: StreamReport): string {
  const calls = report.choices.flatMap(({ toolCalls }) => toolCalls)
  if (calls.length === 0) return '[]'
  const items = calls.map(
    ({ name, argumentsText, state, code }) => `    {
      name: ${name === null ? 'null' : literal(name)},
      argumentsText: ${literal(argumentsText)},
      state: ${literal(state)},
      code: ${code === null ? 'null' : literal(code)},
    },`,
  )
  return `[\n${items.join('\n')}\n  ]`
}

/** As a formatter would write it: single quotes unless that needs more escapes. */
function literal(text: string): string {
  const json = JSON.stringify(text)
    .replaceAll('\u2028', String.raw`\u2028`)
    .replaceAll('\u2029', String.raw`\u2029`)
  const doubles = text.split('"').length
  const singles = text.split("'").length
  if (singles > doubles) return json
  const inner = json
    .slice(1, -1)
    .replaceAll(/\\(.)/g, (escape, character: string) => (character === '"' ? '"' : escape))
  return `'${inner.replaceAll("'", String.raw`\'`)}'`
}

function pathOf(url: string | undefined): string | undefined {
  return url?.replace(/[?#].*$/s, '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
}
