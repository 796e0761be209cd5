import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Api } from 'streamfold'
import { counted } from '../counted.ts'
import { writePrivateFile } from '../file/recording-file.ts'
import { redactUrl } from '../redact/redact-url.ts'
import { CAPABILITIES, CAPABILITIES_SCHEMA } from './capability.ts'
import type { Capability, CapabilityName, CapabilityRecord, CapabilityState } from './capability.ts'
import { exchange } from './exchange.ts'
import { JUDGES, profileOf, readExchange } from './judge.ts'
import type { Judgement, ProbedExchange } from './judge.ts'
import { isProbedApi, PROBE_KINDS, PROBED_APIS, probeRequest } from './probe-request.ts'
import type { ProbeKind } from './probe-request.ts'

export interface ProbeOptions {
  /** Base URL: what a client is configured with, `https://api.example.com/v1`. */
  readonly url: string
  /** Default `chat_completions`. */
  readonly api?: Api
  readonly model: string
  readonly apiKey?: string
  /** Rounds; a capability that differs between them is `partial`. Default 3. */
  readonly repeat?: number
  /** Requests that may be sent at most. Default 20. */
  readonly budget?: number
  /** For each request, in milliseconds. Default 60 s. */
  readonly timeoutMs?: number
  /** Folder for the recordings of all requests. */
  readonly record?: string
  readonly by?: string
  /** Milliseconds since 1970. Default the clock of this machine. */
  readonly now?: () => number
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: { readonly sent: number; readonly total: number; readonly kind: ProbeKind }) => void
}

/**
 * Measures what an endpoint can do, with requests that cost little and whose answers do not depend on wit, and gives the evidence for
 * each answer. It stops at the first refusal of the key, and when the budget is used up; what was not measured is `unknown`.
 *
 * @throws TypeError for a URL that is none, or an API that can't be probed
 */
export async function probe(options: ProbeOptions): Promise<CapabilityRecord> {
  const { api = 'chat_completions', model, apiKey, repeat = 3, budget = 20, timeoutMs = 60_000, signal } = options
  if (!isProbedApi(api)) throw new TypeError(`"${api}" can't be probed; ${PROBED_APIS.join(', ')} can`)
  const base = baseOf(options.url)
  const rounds: Map<ProbeKind, ProbedExchange>[] = []
  let stopped: CapabilityRecord['stopped']
  let sent = 0
  if (options.record !== undefined) mkdirSync(options.record, { recursive: true })
  const total = Math.min(budget, repeat * PROBE_KINDS.length)
  measurement: for (let round = 0; round < repeat; round++) {
    const exchanges = new Map<ProbeKind, ProbedExchange>()
    rounds.push(exchanges)
    for (const kind of PROBE_KINDS) {
      if (sent >= budget) {
        stopped = { code: 'budget', message: `${counted(sent, 'request')} sent; a greater budget allows more` }
        break measurement
      }
      options.onProgress?.({ sent, total, kind })
      const { path, headers, body } = probeRequest(api, kind, { model, apiKey })
      const labels = { probe: kind, round: String(round + 1) }
      const url = new URL(`${base}${path}`)
      const made = await exchange({
        url,
        method: 'POST',
        headers,
        body,
        api,
        labels,
        timeoutMs,
        ...(signal !== undefined && { signal }),
      })
      sent++
      const evidence = await keep(
        options.record,
        `${kind}-${round + 1}.stream.jsonl`,
        made.text,
        made.recording.head.id,
      )
      const { response } = made.recording
      if (response === undefined) {
        stopped = {
          code: 'unreachable',
          message: `${url.host} gave no response: ${made.failure ?? 'the connection closed'}`,
        }
        break measurement
      }
      if (response.status === 401 || response.status === 403) {
        stopped = { code: 'no_access', message: `${url.host} answered ${response.status}: it wants another key` }
        break measurement
      }
      exchanges.set(kind, readExchange(kind, made.recording, api, evidence))
    }
  }
  const all = rounds.flatMap((round) => [...round.values()])
  return {
    schema: CAPABILITIES_SCHEMA,
    endpoint: redactUrl(base),
    api,
    model,
    measuredAt: new Date(options.now?.() ?? Date.now()).toISOString(),
    by: options.by ?? 'streamfold',
    repeat,
    requests: { sent, allowed: budget },
    ...(stopped !== undefined && { stopped }),
    capabilities: Object.fromEntries(CAPABILITIES.map((name) => [name, capabilityOf(name, rounds, api)])) as Record<
      CapabilityName,
      Capability
    >,
    profile: profileOf(all),
  }
}

/** @throws TypeError */
function baseOf(url: string): string {
  const parsed = new URL(url)
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') throw new TypeError(`${url} is no http(s) URL`)
  parsed.hash = ''
  parsed.search = ''
  return parsed.href.replace(/\/+$/, '')
}

async function keep(folder: string | undefined, name: string, text: string, id: string | undefined): Promise<string> {
  if (folder === undefined) return id ?? name
  await writePrivateFile(join(folder, name), text, { overwrite: true })
  return name
}

/** One state of all rounds: the same each time, or `partial`; rounds that say nothing count for nothing. */
function capabilityOf(
  name: CapabilityName,
  rounds: readonly ReadonlyMap<ProbeKind, ProbedExchange>[],
  api: Api,
): Capability {
  const judge = JUDGES[name]
  const judgements = rounds.map((round) => judge.judge(round, api))
  const known = judgements.filter(({ state }) => state !== 'unknown')
  const states = new Set(known.map(({ state }) => state))
  const first: Judgement = known[0] ?? judgements[0] ?? { state: 'unknown', detail: 'not measured' }
  const flaky = states.size > 1
  const state: CapabilityState = flaky ? 'partial' : first.state
  const detail = flaky
    ? `not each time: ${known.map((one) => `${one.state} (${one.detail})`).join(', ')}`
    : first.detail
  const evidence = rounds.flatMap((round) =>
    judge.kinds.flatMap((kind) => {
      const found = round.get(kind)
      return found === undefined ? [] : [found.evidence]
    }),
  )
  return { state, detail, rounds: judgements.map((one) => one.state), evidence }
}
