import { isJsonObject, readStrict } from 'streamfold/json'
import { ImportError } from './import-error.ts'
import { untimed } from './imported-exchange.ts'
import type { ImportedExchange } from './imported-exchange.ts'

/** How a list of JSON values becomes events again; the framing is invented in any case. */
export const CHUNK_FRAMES = ['auto', 'data', 'event'] as const
export type ChunkFrame = (typeof CHUNK_FRAMES)[number]

export interface ChunkListOptions {
  /**
   * `data`: `data: …` alone, as Chat Completions and Gemini; `event`: with the value's `type` as the event's name, as Responses
   * and Messages; `auto` (default): by whether the types are of that kind.
   */
  readonly frame?: ChunkFrame
  /** A `[DONE]` after the last; default false, for nobody has seen one. */
  readonly done?: boolean
}

const NAMED_TYPE = /^(?:message_|content_block_|ping$|error$|response\.)/

/** One JSON value per line, as test fixtures often keep a stream. */
export function importChunkList(
  text: string,
  { frame = 'auto', done = false }: ChunkListOptions = {},
): ImportedExchange {
  const events: string[] = []
  text.split(/\r?\n/).forEach((raw, index) => {
    const line = raw.trim()
    if (line === '') return
    if (line === '[DONE]') {
      events.push('data: [DONE]\n\n')
      return
    }
    events.push(`${nameLine(line, index + 1, frame)}data: ${line}\n\n`)
  })
  if (events.length === 0) throw new ImportError('no line holds a JSON value')
  if (done) events.push('data: [DONE]\n\n')
  return {
    source: { kind: 'chunks', reframed: true },
    timing: 'none',
    reads: untimed(events.map((event) => Buffer.from(event))),
    end: { atUs: 0, kind: 'complete' },
  }
}

function nameLine(json: string, line: number, frame: ChunkFrame): string {
  const result = readStrict(json)
  if (!result.ok) {
    const hint = /^(?:data|event|id|retry)?:/.test(json) ? '; this is a body: import it as one (--from body)' : ''
    throw new ImportError(`not JSON: ${result.message}${hint}`, { line })
  }
  if (frame === 'data') return ''
  const { value } = result
  const type = isJsonObject(value) && Object.hasOwn(value, 'type') ? value['type'] : undefined
  if (frame === 'event') {
    if (typeof type === 'string' && !/[\r\n]/.test(type)) return `event: ${type}\n`
    throw new ImportError('has no "type" that could be the name of its event', { line })
  }
  return typeof type === 'string' && NAMED_TYPE.test(type) && !/[\r\n]/.test(type) ? `event: ${type}\n` : ''
}
