import type { TimedWrite } from '../demo/sample-stream.ts'

/** Between two events, so that they travel apart and can be watched. */
const EVENT_PAUSE_MS = 10
const HINT =
  'I am a script, not a model. Give me numbers ("add 17, 25 and 0.5"), or a date and a locale ("2026-12-01 for ja-JP"), or both.'
const DATE = /\b\d{4}-\d{2}-\d{2}\b/
const LOCALE = /\b[a-z]{2,3}-[A-Z]{2}\b/
const NUMBER = /(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)/g

interface Call {
  readonly id: string
  readonly name: string
  readonly argumentsText: string
}

interface RequestMessage {
  readonly role?: unknown
  readonly content?: unknown
}

/**
 * What the bundled endpoint answers to the body of a Chat Completions request: calls for what it finds in a prompt, a sentence for
 * the results of calls. The same request has the same answer.
 */
export function scriptedAnswer(body: string): readonly TimedWrite[] {
  const messages = messagesOf(body)
  const last = messages.at(-1)
  if (last?.role === 'tool') {
    const from = messages.findLastIndex(({ role }) => role !== 'tool') + 1
    return textWrites(messages.slice(from).map(sentenceOf).join(' '))
  }
  const prompt = typeof last?.content === 'string' ? last.content : ''
  const calls = callsFor(prompt, messages.length)
  return calls.length === 0 ? textWrites(HINT) : callWrites(calls)
}

function messagesOf(body: string): readonly RequestMessage[] {
  try {
    const { messages } = JSON.parse(body) as { readonly messages?: unknown }
    return Array.isArray(messages) ? (messages as readonly RequestMessage[]) : []
  } catch {
    return []
  }
}

function callsFor(prompt: string, seed: number): readonly Call[] {
  const date = DATE.exec(prompt)?.[0]
  const numbers = (prompt.replace(DATE, '').match(NUMBER) ?? []).map(Number)
  const wanted: [name: string, args: object][] = []
  if (numbers.length > 0) wanted.push(['add_numbers', { numbers }])
  if (date !== undefined) wanted.push(['format_date', { date, locale: LOCALE.exec(prompt)?.[0] ?? 'en-GB' }])
  return wanted.map(([name, args], at) => ({
    id: `call_${seed}_${at + 1}`,
    name,
    argumentsText: JSON.stringify(args),
  }))
}

function sentenceOf({ content }: RequestMessage): string {
  const said = typeof content === 'string' ? content : ''
  try {
    const { sum, text } = JSON.parse(said) as { readonly sum?: unknown; readonly text?: unknown }
    if (typeof sum === 'number') return `The sum is ${sum}.`
    if (typeof text === 'string') return `The date is ${text}.`
  } catch {
    // A sentence about why there is no result.
  }
  return `That did not work: ${said}`
}

function chunk(fields: object): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-chat', object: 'chat.completion.chunk', created: 1_796_000_000, model: 'script-1', ...fields })}\r\n\r\n`
}

const delta = (fields: object, finish: string | null = null): string =>
  chunk({ choices: [{ index: 0, delta: fields, finish_reason: finish }] })

function textWrites(text: string): readonly TimedWrite[] {
  const pieces = text.match(/\S+\s*/g) ?? []
  return writes(
    [delta({ role: 'assistant', content: '' }), ...pieces.map((content) => delta({ content }))],
    'stop',
    text,
  )
}

/** The pieces of the calls take turns, as those of parallel calls may. */
function callWrites(calls: readonly Call[]): readonly TimedWrite[] {
  const starts = calls.map(({ id, name }, index) =>
    delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
  )
  const pieces = calls.map(({ argumentsText }) => argumentsText.match(/.{1,12}/gs) ?? [])
  const rounds = Math.max(...pieces.map(({ length }) => length))
  const argumentEvents = Array.from({ length: rounds }, (_, round) =>
    pieces.flatMap((of, index) => {
      const piece = of[round]
      return piece === undefined ? [] : [delta({ tool_calls: [{ index, function: { arguments: piece } }] })]
    }),
  ).flat()
  const text = calls.map(({ argumentsText }) => argumentsText).join('')
  return writes([delta({ role: 'assistant', content: null }), ...starts, ...argumentEvents], 'tool_calls', text)
}

function writes(events: readonly string[], finish: string, text: string): readonly TimedWrite[] {
  const usage = { prompt_tokens: 20, completion_tokens: Math.ceil(text.length / 4) }
  const tail = [
    delta({}, finish),
    chunk({ choices: [], usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens } }),
    'data: [DONE]\r\n\r\n',
  ]
  const encoder = new TextEncoder()
  return [...events, ...tail].flatMap((event) => {
    const bytes = encoder.encode(event)
    // In the middle, wherever that is: between two bytes of a character too.
    const middle = bytes.length >> 1
    return [
      { bytes: bytes.subarray(0, middle), pauseMs: EVENT_PAUSE_MS / 2 },
      { bytes: bytes.subarray(middle), pauseMs: EVENT_PAUSE_MS / 2 },
    ]
  })
}
