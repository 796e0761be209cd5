import { isHeaderValue } from '../header-value.ts'
import { isHttpUrl } from '../http-url.ts'

/** A real endpoint to stream from instead of the sample server. */
export interface Endpoint {
  readonly baseUrl: string
  readonly apiKey: string
  readonly model: string
}

const VARIABLES = ['STREAMFOLD_BASE_URL', 'STREAMFOLD_API_KEY', 'STREAMFOLD_MODEL'] as const

/** The endpoint that the environment names; undefined where it names none; a sentence where it names half of one. */
export function endpointOf(env: Readonly<Record<string, string | undefined>>): Endpoint | string | undefined {
  const [baseUrl = '', apiKey = '', model = ''] = VARIABLES.map((name) => env[name]?.trim())
  const missing = VARIABLES.filter((name) => (env[name]?.trim() ?? '') === '')
  if (missing.length === VARIABLES.length) return undefined
  if (missing.length > 0) {
    const be = missing.length === 1 ? 'is' : 'are'
    return `${missing.join(' and ')} ${be} missing; set all of ${VARIABLES.join(', ')} for a real endpoint, or none for the sample (any text will do for a server that needs no key)`
  }
  if (!isHeaderValue(apiKey))
    return "STREAMFOLD_API_KEY holds characters that an HTTP header can't carry; copy it again"
  if (!isHttpUrl(baseUrl)) {
    return 'STREAMFOLD_BASE_URL is not an http or https address, such as https://api.example.com/v1'
  }
  return { baseUrl: baseUrl.replace(/\/+$/, ''), apiKey, model }
}

/** Two tools without effects: nothing would happen even if somebody ran them. */
const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'add_numbers',
      description: 'Adds numbers and gives the sum.',
      parameters: {
        type: 'object',
        properties: { numbers: { type: 'array', items: { type: 'number' } } },
        required: ['numbers'],
      },
    },
  },
  {
    type: 'function',
    function: {
      name: 'format_date',
      description: 'Writes a date in the way of a locale.',
      parameters: {
        type: 'object',
        properties: { date: { type: 'string', description: 'YYYY-MM-DD' }, locale: { type: 'string' } },
        required: ['date', 'locale'],
      },
    },
  },
]

export const ENDPOINT_TOOLS: readonly string[] = TOOLS.map((tool) => tool.function.name)

/** Asks for both tools in one answer. */
export function requestBody(model: string): string {
  return JSON.stringify({
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      {
        role: 'user',
        content:
          'Say in one short sentence what you are about to do. Then call both tools in the same answer: add_numbers with 17, 25 and 0.5, and format_date with 2026-12-01 for ja-JP.',
      },
    ],
    tools: TOOLS,
  })
}

/** What to look at for a failure of this endpoint, beyond what the report says. */
export function endpointHint(status: number | undefined, unreachable: string | undefined): string | undefined {
  if (unreachable !== undefined)
    return `no answer from STREAMFOLD_BASE_URL (${unreachable}): check the address and that the server runs`
  if (status === 401 || status === 403) return 'the server refuses the key: check STREAMFOLD_API_KEY'
  if (status === 404) return 'check STREAMFOLD_BASE_URL, which usually ends in /v1, and STREAMFOLD_MODEL'
  if (status === 400 || status === 422)
    return 'the server refuses the request: check STREAMFOLD_MODEL, and that it knows tools and stream_options'
  return undefined
}
