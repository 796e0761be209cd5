import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { adapterFor } from '../../src/adapters/registry.ts'
import type { StreamChunk } from '../../src/chunk/chunk.ts'
import type { FinishReason } from '../../src/chunk/finish-reason.ts'
import { ChunkTap } from '../../src/client/chunk-tap.ts'
import { createStreamEngine } from '../../src/engine/engine.ts'
import type { ReportChoice, StreamReport } from '../../src/engine/report.ts'
import { replayInto } from '../../src/recording/index.ts'
import { ENCODABLE_APIS } from '../../src/server/index.ts'
import type { EncodableApi } from '../../src/server/index.ts'
import { readSamples } from '../golden/sample.ts'
import type { Sample } from '../golden/sample.ts'
import { decode, encode } from './decode.ts'

/** Kept, so that a failure can be had again. */
const SEED = 20_261_130

interface Source {
  readonly chunks: readonly StreamChunk[]
  readonly report: StreamReport
}

/** The chunks that a client passes on, and what it made of them itself. */
function read(sample: Sample): Source {
  const { profile, ...options } = sample.intent.options ?? {}
  const tap = new ChunkTap({ repairs: (profile?.repairs?.length ?? 0) > 0 })
  const onChunk = tap.begin()
  const engine = createStreamEngine({
    ...options,
    adapter: adapterFor(sample.api, profile),
    request: sample.request,
    onChunk,
  })
  const events = replayInto(engine, sample.recording)
  return { chunks: tap.take(events), report: engine.report() }
}

interface Meaning {
  readonly choice: number
  readonly text: string
  readonly reasoning: string
  readonly refusal: string
  readonly calls: readonly object[]
  readonly finish: FinishReason | null
}

/** What has to survive. Calls that the provider ran itself concern nobody downstream. */
function meaningOf(choice: ReportChoice, api: EncodableApi): Meaning {
  const calls = choice.toolCalls
    .filter(({ providerExecuted }) => !providerExecuted)
    // How far a call got that is not run is of no weight.
    .map(({ callId, name, parsedArguments, code }) => ({
      callId,
      name,
      released: code === null,
      ...(code === null && { parsedArguments }),
    }))
  const { reason } = choice.finish
  const inWords = api === 'anthropic_messages'
  return {
    choice: choice.index,
    // Messages has no place for a refusal but the text.
    text: inWords ? choice.text + choice.refusal : choice.text,
    reasoning: choice.reasoning,
    refusal: inWords ? '' : choice.refusal,
    calls,
    finish: finishAs(reason, choice, calls.length > 0, api),
  }
}

/** The reason as the API can say it: a good end with calls is one that asks for them. */
function finishAs(
  reason: FinishReason | null,
  { refusal }: ReportChoice,
  hasCalls: boolean,
  api: EncodableApi,
): FinishReason | null {
  if (api === 'anthropic_messages' && refusal !== '') return 'content-filter'
  if (api === 'responses' && reason === 'tool-calls' && !hasCalls) return 'stop'
  return reason === 'stop' && hasCalls ? 'tool-calls' : reason
}

function endsWell({ chunks }: Source, api: EncodableApi): boolean {
  const several = chunks.some((chunk) => 'choice' in chunk && (chunk.choice ?? 0) > 0)
  const opened = new Set(chunks.flatMap((chunk) => ('index' in chunk ? (chunk.choice ?? 0) : [])))
  const finishes = chunks.flatMap((chunk) => (chunk.type === 'finish' ? [chunk] : []))
  for (const { choice = 0 } of finishes) opened.delete(choice)
  const gaveUp = finishes.some(({ reason }) => reason === 'error' || reason === 'aborted')
  if (several && api !== 'chat_completions') return false
  return finishes.length > 0 && opened.size === 0 && !gaveUp && !chunks.some(({ type }) => type === 'error')
}

describe.each(ENCODABLE_APIS)('decode(encode(x)) = x for every golden sample, as %s', (api) => {
  test.each(readSamples().map((sample) => ({ name: sample.name, sample })))('$name', ({ sample }) => {
    const source = read(sample)
    const body = encode(source.chunks, api)
    const decoded = decode(body, api)
    expect(observed(decoded, body, wanted(source, api).ends, api)).toMatchObject(wanted(source, api))
    const { length } = new TextEncoder().encode(body)
    const whole = JSON.stringify(decoded)
    const cuts = fc
      .uniqueArray(fc.integer({ min: 1, max: length - 1 }), { minLength: 1, maxLength: 12 })
      .map((offsets) => offsets.toSorted((a, b) => a - b))
    fc.assert(
      fc.property(cuts, (places) => JSON.stringify(decode(body, api, places)) === whole),
      { seed: SEED, numRuns: 10 },
    )
  })
})

type Wanted =
  | { readonly ends: 'well'; readonly error: null; readonly choices: readonly Meaning[]; readonly usage: object }
  /** The client is told that something is missing, or that it failed, and runs nothing. */
  | { readonly ends: 'without a word' | 'badly'; readonly good: false; readonly released: readonly [] }

function wanted(source: Source, api: EncodableApi): Wanted {
  if (!endsWell(source, api)) return { ends: 'badly', good: false, released: [] }
  if (!canSay(source, api)) return { ends: 'without a word', good: false, released: [] }
  const choices = source.report.choices.map((choice) => meaningOf(choice, api))
  return { ends: 'well', error: null, choices, usage: countersOf(source.report) }
}

function observed(decoded: StreamReport, body: string, ends: Wanted['ends'], api: EncodableApi): object {
  const { outcome, error, usage } = decoded
  if (ends === 'well') {
    return { ends, error, choices: decoded.choices.map((choice) => meaningOf(choice, api)), usage: usage ?? {} }
  }
  const said = /\[DONE\]|message_stop|response\.completed|response\.incomplete/.test(body)
  const good = ends === 'badly' ? said || outcome !== 'failed' : outcome === 'completed'
  return { ends, good, released: releasedIn(decoded) }
}

/** Responses has no word for a pause, nor for a reason that is not its own. */
function canSay({ chunks }: Source, api: EncodableApi): boolean {
  if (api !== 'responses') return true
  return !chunks.some((chunk) => chunk.type === 'finish' && (chunk.reason === 'pause' || chunk.reason === 'unknown'))
}

function releasedIn({ choices }: StreamReport): readonly unknown[] {
  return choices.flatMap(({ toolCalls }) => toolCalls.filter(({ code }) => code === null))
}

/** Counters that an API leaves out are 0 in another. */
function countersOf({ usage }: StreamReport): object {
  const { inputTokens, outputTokens } = usage ?? {}
  return { ...(inputTokens !== undefined && { inputTokens }), ...(outputTokens !== undefined && { outputTokens }) }
}
