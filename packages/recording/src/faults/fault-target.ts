import { adapterFor, createStreamEngine } from 'streamfold'
import type { Api, ProviderProfile } from 'streamfold'
import { counted } from '../counted.ts'
import { bodyUnits } from '../replay/body-units.ts'
import type { BodyUnit, BodyUnits } from '../replay/body-units.ts'
import { bodyOf } from '../replay/replay-script.ts'
import type { ReplayScript } from '../replay/replay-script.ts'
import type { Random } from '../seeded-random.ts'
import { unitData } from './event-data.ts'
import type { FaultPlace, FaultSpec } from './fault-spec.ts'

/** A fragment of a call's arguments, or the event that opened the call (fragment 0). */
export interface CallFragment {
  /** Place among the calls of the stream, from 0. */
  readonly call: number
  readonly fragment: number
  /** Index of the unit that carried it. */
  readonly unit: number
}

/** Why a fault can't be made of this stream. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}

export interface FaultTargetOptions {
  /** Wire format of the body; faults that change its JSON need it. */
  readonly api?: Api | undefined
  readonly profile?: ProviderProfile | undefined
  readonly random: Random
}

/** A stream that a fault is about to be made of, and what the fault asks of it. */
export class FaultTarget {
  readonly script: ReplayScript
  readonly args: readonly string[]
  readonly random: Random
  readonly body: Uint8Array
  readonly #spec: FaultSpec
  readonly #api: Api | undefined
  readonly #profile: ProviderProfile | undefined
  #units: BodyUnits | undefined
  #reading: Reading | undefined

  constructor(script: ReplayScript, spec: FaultSpec, { api, profile, random }: FaultTargetOptions) {
    this.script = script
    this.args = spec.args
    this.random = random
    this.body = bodyOf(script)
    this.#spec = spec
    this.#api = api
    this.#profile = profile
  }

  /** @throws NotApplicable where it is not known */
  get api(): Api {
    if (this.#api === undefined) throw new NotApplicable('the wire format of the recording is not known; name it')
    return this.#api
  }

  get units(): readonly BodyUnit[] {
    return this.#split.units
  }

  get framing(): BodyUnits['framing'] {
    return this.#split.framing
  }

  get #split(): BodyUnits {
    return (this.#units ??= bodyUnits(this.body))
  }

  /** Indexes of the units that are events; comments are none. */
  get events(): readonly number[] {
    return this.units.flatMap((_, i) => (this.isEvent(i) ? [i] : []))
  }

  bytesOf(unit: number): Uint8Array {
    const { from, to } = this.units[unit]!
    return this.body.subarray(from, to)
  }

  isEvent(unit: number): boolean {
    if (this.framing === 'aws-event-stream') return true
    return unitData(this.framing, this.bytesOf(unit)) !== undefined
  }

  /** Fragments of all calls in the order in which they come. */
  get fragments(): readonly CallFragment[] {
    return this.#read.fragments
  }

  /** Index of the unit that carries the wire's own end. @throws NotApplicable where there is none */
  get terminal(): number {
    const { terminal } = this.#read
    if (terminal === undefined) throw new NotApplicable('the stream has no terminal signal')
    return terminal
  }

  /** Index of the first unit with output. @throws NotApplicable where there is none */
  get firstOutput(): number {
    const { output } = this.#read
    if (output === undefined) throw new NotApplicable('the stream has no output')
    return output
  }

  get #read(): Reading {
    return (this.#reading ??= readUnits(this, this.api, this.#profile))
  }

  /** Offset in the body at which the fault strikes; default in the middle. @throws NotApplicable where the stream has no such place */
  offset(fallback: FaultPlace = { at: 'percent', percent: 50 }): number {
    const place = this.#spec.place ?? fallback
    switch (place.at) {
      case 'byte':
        if (place.offset <= this.body.length) return place.offset
        throw new NotApplicable(`the body has ${counted(this.body.length, 'byte')}`)
      case 'percent':
        return Math.floor((this.body.length * place.percent) / 100)
      case 'call': {
        const { from, to } = this.units[this.#unitOf(place)]!
        return Math.floor((from + to) / 2)
      }
      case 'event':
      case 'time':
        return this.units[this.#unitOf(place)]?.from ?? this.body.length
    }
  }

  /** Index of the unit at which the fault strikes; default in the middle. @throws NotApplicable where the stream has no such place */
  unit(fallback: FaultPlace = { at: 'percent', percent: 50 }): number {
    return this.#unitOf(this.#spec.place ?? fallback)
  }

  #unitOf(place: FaultPlace): number {
    if (this.units.length === 0) throw new NotApplicable('the body is empty')
    switch (place.at) {
      case 'event': {
        const unit = this.events[place.number - 1]
        if (unit === undefined) throw new NotApplicable(`the stream has ${counted(this.events.length, 'event')}`)
        return unit
      }
      case 'call': {
        const found = this.fragments.find(({ call, fragment }) => call === place.call && fragment === place.fragment)
        if (found === undefined)
          throw new NotApplicable(`the stream has no fragment ${place.fragment} of call ${place.call}`)
        return found.unit
      }
      case 'time':
        return this.#unitAt(this.#offsetAt(place.ms))
      case 'byte':
      case 'percent':
        return this.#unitAt(this.offset(place))
    }
  }

  #unitAt(offset: number): number {
    const unit = this.units.findIndex(({ to }) => offset < to)
    return unit < 0 ? this.units.length - 1 : unit
  }

  #offsetAt(ms: number): number {
    let offset = 0
    for (const { atUs, bytes } of this.script.writes) {
      if (atUs >= ms * 1000) return offset
      offset += bytes.length
    }
    throw new NotApplicable(`the stream was over before ${ms} ms`)
  }
}

interface Reading {
  readonly fragments: readonly CallFragment[]
  readonly terminal: number | undefined
  readonly output: number | undefined
}

/** Reads the body unit by unit: which one carries what is the adapter's to say, for every wire format. */
function readUnits(target: FaultTarget, api: Api, profile: ProviderProfile | undefined): Reading {
  const engine = createStreamEngine({ adapter: adapterFor(api, profile) })
  const fragments: CallFragment[] = []
  const counts = new Map<string, { readonly call: number; fragments: number }>()
  let terminal: number | undefined
  let output: number | undefined
  for (let unit = 0; unit < target.units.length && !engine.ended; unit++) {
    const told = new Set<string>()
    for (const event of engine.push(target.bytesOf(unit))) {
      if (event.type.endsWith('_delta') || event.type === 'tool_call_started') output ??= unit
      if (event.type !== 'tool_call_started' && event.type !== 'tool_call_arguments_delta') continue
      const key = `${event.choice} ${event.callId}`
      const count = counts.get(key) ?? { call: counts.size, fragments: 0 }
      counts.set(key, count)
      // The event that opens a call may hold its first arguments too.
      if (told.has(key)) continue
      told.add(key)
      fragments.push({ call: count.call, fragment: count.fragments++, unit })
    }
    if (engine.ended) terminal = unit
  }
  return { fragments, terminal, output }
}
