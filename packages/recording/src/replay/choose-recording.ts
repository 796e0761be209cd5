import type { Recording } from 'streamfold/recording'
import { sha256Of } from '../file/sha256.ts'

/** A recording that can be asked for by name. */
export interface NamedRecording {
  /** Its file's name, for example. */
  readonly name: string
  readonly recording: Recording
}

/** What is known of a request when its recording is chosen. */
export interface ReplayRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly body: Uint8Array
  /** By request header: the name or the id of a recording. */
  readonly wanted?: string | undefined
}

export type Choice =
  | { readonly found: NamedRecording }
  /** Why nothing fits, one line per recording. */
  | { readonly found?: undefined; readonly reasons: readonly string[] }

/**
 * Chooses the recording that answers a request: the one that was asked for by name; else the only one; else by method and path, and
 * where several have them by the body that was sent, and at last in turn. `strict` wants method, path and a recorded body to fit in
 * any case.
 */
export class RecordingChooser {
  readonly #recordings: readonly NamedRecording[]
  readonly #strict: boolean
  readonly #turns = new Map<string, number>()

  constructor(recordings: readonly NamedRecording[], strict: boolean) {
    this.#recordings = recordings
    this.#strict = strict
  }

  choose(request: ReplayRequest): Choice {
    const { wanted } = request
    const named =
      wanted === undefined
        ? this.#recordings
        : this.#recordings.filter(({ name, recording }) => name === wanted || recording.head.id === wanted)
    if (named.length === 0) {
      const known = this.#recordings.map(({ name }) => name).join(', ')
      return { reasons: [`no recording is named "${wanted ?? ''}"; known are ${known}`] }
    }
    if (!this.#strict && (wanted !== undefined || named.length === 1)) return { found: named[0]! }
    const reasons: string[] = []
    const fitting = named.filter(({ name, recording }) => {
      const reason = mismatchOf(request, recording)
      if (reason !== undefined) reasons.push(`${name}: ${reason}`)
      return reason === undefined
    })
    const withBody = fitting.filter(({ recording }) => bodyFits(request.body, recording) === true)
    const candidates =
      withBody.length > 0
        ? withBody
        : this.#strict
          ? fitting.filter(({ recording }) => bodyFits(request.body, recording) === undefined)
          : fitting
    if (candidates.length === 0) {
      for (const { name } of fitting) reasons.push(`${name}: another request body was recorded`)
      return { reasons }
    }
    return { found: this.#inTurn(candidates) }
  }

  /** The same request again gets the next recording, and the last one for ever. */
  #inTurn(candidates: readonly NamedRecording[]): NamedRecording {
    const key = candidates.map(({ name }) => name).join('\n')
    const turn = this.#turns.get(key) ?? 0
    this.#turns.set(key, turn + 1)
    return candidates[Math.min(turn, candidates.length - 1)]!
  }
}

function mismatchOf({ method, target }: ReplayRequest, { request }: Recording): string | undefined {
  if (request?.method !== undefined && request.method.toUpperCase() !== method.toUpperCase()) {
    return `recorded ${request.method}, asked ${method}`
  }
  const path = pathOf(target)
  const recorded = request?.url === undefined ? undefined : pathOf(request.url)
  return recorded === undefined || recorded === path ? undefined : `recorded ${recorded}, asked ${path}`
}

function pathOf(url: string): string {
  try {
    return new URL(url, 'http://replay.invalid').pathname.replace(/\/+$/, '')
  } catch {
    return url
  }
}

/** Undefined where no body was recorded. JSON is compared by what it says, not by how it is written. */
function bodyFits(body: Uint8Array, { request }: Recording): boolean | undefined {
  if (request?.body !== undefined) return normalised(request.body) === normalised(body)
  return request?.bodySha256 === undefined ? undefined : request.bodySha256.toLowerCase() === sha256Of([body])
}

function normalised(body: Uint8Array): string {
  const text = new TextDecoder().decode(body)
  try {
    return JSON.stringify(sorted(JSON.parse(text)))
  } catch {
    return text
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)])
}
