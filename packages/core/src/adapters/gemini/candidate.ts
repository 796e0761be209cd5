import { permitsToolCalls } from '../../chunk/finish-reason.ts'
import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterOutput } from '../adapter.ts'
import { argumentText } from '../argument-value.ts'
import { ChoiceBlocks } from '../choice-blocks.ts'
import { readFinishWord } from '../finish-word.ts'
import type { FinishAliases } from '../finish-word.ts'
import { isKeepable } from '../kept-value.ts'
import { keepLogprobs } from '../logprobs.ts'
import { ProviderFields } from '../provider-fields.ts'
import { identity, isNothing, isRecord } from '../wire-value.ts'
import { finishReasonOf, isUnspecified } from './finish-reason.ts'
import { CandidateCalls } from './calls.ts'
import type { CallContext } from './calls.ts'

export interface CandidateOptions extends CallContext {
  readonly index: number
  readonly finishAliases: FinishAliases
}

/** One candidate of a response: its parts in order, its calls and how it finished. */
export class Candidate {
  readonly blocks: ChoiceBlocks
  readonly #fields = new ProviderFields(CANDIDATE_KEYS, false)
  readonly #calls: CandidateCalls
  readonly #aliases: CandidateOptions['finishAliases']

  constructor(options: CandidateOptions) {
    this.blocks = new ChoiceBlocks(options.index)
    this.#calls = new CandidateCalls(this.blocks, options)
    this.#aliases = options.finishAliases
  }

  /** Reads what an event adds to this candidate. Returns false when a limit was hit and the rest must not be read. */
  read(raw: Record<string, unknown>, pointer: string, event: ServerSentEvent, out: AdapterOutput): boolean {
    const { content } = raw
    if (isRecord(content)) {
      const { parts } = content
      if (Array.isArray(parts)) {
        for (let i = 0; i < parts.length; i++) {
          if (!this.#part(parts[i], `${pointer}/content/parts/${i}`, event, out)) return false
        }
      } else if (!isNothing(parts)) out.skipped.push({ message: 'the parts of a candidate are not a list' })
    } else if (!isNothing(content)) out.skipped.push({ message: 'the content of a candidate is not an object' })
    keepLogprobs(raw['logprobsResult'], 'logprobsResult', LOGPROB_LISTS, this.blocks.index, out)
    this.#fields.read(raw, this.blocks.index, out)
    this.#finish(raw['finishReason'], out)
    return true
  }

  /** The prompt was refused, so nothing of the answer may count as one. */
  block(out: AdapterOutput): void {
    this.blocks.close(this.blocks.finish?.raw ?? null, 'content-filter', out)
  }

  end(out: AdapterOutput): void {
    this.#calls.flush(out)
    this.blocks.end(out, this.#calls.waiting)
  }

  #part(part: unknown, pointer: string, event: ServerSentEvent, out: AdapterOutput): boolean {
    if (!isRecord(part)) {
      out.skipped.push({ message: 'a part of a candidate is not an object' })
      return true
    }
    const signature = identity(part['thoughtSignature'])
    const metadata = signature === undefined ? undefined : { thoughtSignature: signature }
    const { text, functionCall, executableCode, toolCall } = part
    if (!isNothing(functionCall)) {
      // One of the fields says what a part is; where a relay wrote two, neither is to be lost.
      if (typeof text === 'string') this.#text(text, part['thought'] === true, undefined, out)
      if (isRecord(functionCall)) return this.#calls.read(functionCall, `${pointer}/functionCall`, metadata, event, out)
      out.skipped.push({ message: 'a functionCall is not an object' })
      return true
    }
    if (isRecord(executableCode)) {
      const { id, ...input } = executableCode
      const call = { id: identity(id), name: 'code_execution', input, part: 'executableCode' }
      return this.#providerCall(call, metadata, out)
    }
    if (isRecord(toolCall)) {
      const name = identity(toolCall['toolType']) ?? 'tool'
      const call = { id: identity(toolCall['id']), name, input: toolCall['args'], part: 'toolCall' }
      return this.#providerCall(call, metadata, out)
    }
    if (!isNothing(text)) {
      this.#text(text, part['thought'] === true, metadata, out)
      return true
    }
    const kinds = Object.keys(part).filter((key) => !PART_EXTRAS.has(key) && part[key] !== null)
    if (kinds.length === 0) {
      if (this.#calls.isOpen && metadata === undefined)
        out.skipped.push({ message: 'a part says nothing where a call was to be continued' })
      if (metadata !== undefined) this.blocks.sign(part['thought'] === true ? 'reasoning' : 'text', metadata, out)
      return true
    }
    // Media, results of the provider's own tools and what is not known yet: kept in its place, to be echoed.
    const unknown = kinds.find((kind) => !OPAQUE_KINDS.has(kind))
    if (unknown !== undefined) out.note('unexpected_field', `a part of kind ${JSON.stringify(unknown.slice(0, 40))}`)
    if (isKeepable(part)) this.blocks.opaque({ ...part }, out)
    return true
  }

  #text(text: unknown, thought: boolean, metadata: Record<string, unknown> | undefined, out: AdapterOutput): void {
    if (typeof text !== 'string') {
      out.skipped.push({ message: 'the text of a part is not a string' })
      return
    }
    const type = thought ? 'reasoning' : 'text'
    this.blocks.text(type, text, out)
    if (metadata !== undefined) this.blocks.sign(type, metadata, out)
  }

  /** A tool that the provider runs itself; its result comes as a part of its own (fault F083). */
  #providerCall(
    call: { id: string | undefined; name: string; input: unknown; part: string },
    metadata: Record<string, unknown> | undefined,
    out: AdapterOutput,
  ): boolean {
    const input = argumentText(call.input, undefined)
    if (input === undefined) {
      out.skipped.push({ message: `the input of a ${call.part} is nested too deeply` })
      return true
    }
    const { id, name, part } = call
    return this.#calls.write(
      { id, name, providerExecuted: true, metadata: { part, ...metadata } },
      { text: input.text },
      out,
    )
  }

  #finish(raw: unknown, out: AdapterOutput): void {
    const said = isUnspecified(raw) ? '' : raw
    const word = readFinishWord(said, (text) => finishReasonOf(text, this.#aliases), out)
    if (word === undefined) return
    if (permitsToolCalls(word.reason)) this.#calls.closeOpen(out)
    if (this.blocks.close(word.raw, word.reason, out)) this.#calls.endAll(out)
  }
}

const LOGPROB_LISTS = ['chosenCandidates', 'topCandidates'] as const

const CANDIDATE_KEYS: ReadonlySet<string> = new Set(['content', 'index', 'finishReason', 'logprobsResult'])

/** What may stand beside the one field that says what a part is. */
const PART_EXTRAS: ReadonlySet<string> = new Set([
  'thought',
  'thoughtSignature',
  'partMetadata',
  'mediaResolution',
  'videoMetadata',
])

const OPAQUE_KINDS: ReadonlySet<string> = new Set([
  'inlineData',
  'fileData',
  'functionResponse',
  'codeExecutionResult',
  'toolResponse',
  'audioTranscription',
])
