import type { HeaderPair } from 'streamfold/recording'
import { wholeNumber } from '../replay/quantity.ts'
import type { ReplayScript } from '../replay/replay-script.ts'
import type { FaultDefinition } from './fault-definition.ts'

const encoder = new TextEncoder()

/** Another response than the one that was asked for. */
export const RESPONSE_FAULTS: readonly FaultDefinition[] = [
  {
    name: 'html',
    about: 'a proxy answers with its own page',
    usage: 'STATUS',
    faults: ['F116'],
    calls: 'same-or-none',
    code: ([status = '502']) => (status === '200' ? 'not_event_stream' : 'http_error'),
    apply: ({ script, args }) => {
      const status = wholeNumber(args[0] ?? '502', 'HTTP status')
      const title = `${status} ${status === 200 ? 'Maintenance' : status === 504 ? 'Gateway Time-out' : 'Bad Gateway'}`
      const page = `<html>\n<head><title>${title}</title></head>\n<body><h1>${title}</h1></body>\n</html>\n`
      return answer(script, status, 'text/html', page)
    },
  },
  {
    name: 'json-error',
    about: 'an error in JSON instead of the stream',
    usage: 'STATUS',
    faults: ['F114'],
    calls: 'same-or-none',
    code: () => 'http_error',
    apply: ({ script, args }) =>
      answer(script, wholeNumber(args[0] ?? '500', 'HTTP status'), 'application/json', errorBody('server_error')),
  },
  {
    name: 'status',
    about: 'the server refuses: 429, or another status, with Retry-After in seconds',
    usage: 'STATUS[,RETRY_AFTER]',
    faults: ['F137'],
    calls: 'same-or-none',
    code: ([status = '429']) => (status === '429' ? 'rate_limited' : 'http_error'),
    apply: ({ script, args }) => {
      const status = wholeNumber(args[0] ?? '429', 'HTTP status')
      const retryAfter = wholeNumber(args[1] ?? '1', 'number of seconds')
      const type = status === 429 ? 'rate_limit_exceeded' : 'server_error'
      return answer(script, status, 'application/json', errorBody(type), [['retry-after', String(retryAfter)]])
    },
  },
  {
    name: 'wrong-content-type',
    about: 'the content type is not that of the body',
    usage: 'CONTENT_TYPE',
    faults: ['F185'],
    calls: 'same',
    apply: ({ script, args }) => {
      const { head = { atUs: 0, status: 200, headers: [] } } = script
      const others = head.headers.filter(([name]) => name.toLowerCase() !== 'content-type')
      return { ...script, head: { ...head, headers: [...others, ['content-type', args[0] ?? 'application/json']] } }
    },
  },
  {
    name: 'empty',
    about: 'the response ends without a body',
    faults: ['F183'],
    calls: 'same-or-none',
    apply: ({ script }) => ({ ...script, writes: [], end: { ...script.end, kind: 'complete' } }),
  },
]

function errorBody(type: string): string {
  return JSON.stringify({ error: { message: 'The request could not be served.', type, code: type } })
}

function answer(
  script: ReplayScript,
  status: number,
  contentType: string,
  body: string,
  headers: readonly HeaderPair[] = [],
): ReplayScript {
  const atUs = script.head?.atUs ?? 0
  const bytes = encoder.encode(body)
  return {
    head: { atUs, status, headers: [['content-type', contentType], ...headers] },
    writes: [{ atUs, bytes }],
    end: { kind: 'complete', atUs },
    wire: { framing: bytes.length },
    timed: script.timed,
  }
}
