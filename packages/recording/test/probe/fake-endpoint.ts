import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a fake Chat Completions endpoint does; everything right where nothing is said. */
export interface FakeTraits {
  readonly sentinel?: boolean
  readonly usage?: boolean
  /** Arguments in one piece. */
  readonly wholeArguments?: boolean
  /** Only ever one call. */
  readonly oneCall?: boolean
  readonly noTools?: boolean
  /** One JSON document although a stream was asked for. */
  readonly neverStreams?: boolean
  /** Every answer in one write, so late that it is no stream. */
  readonly fake?: boolean
  /** Errors as plain text. */
  readonly plainErrors?: boolean
  /** Never says `length`. */
  readonly hidesLength?: boolean
  /** Status of every answer. */
  readonly status?: number
}

export interface FakeEndpoint {
  readonly url: string
  /** Bodies of the requests so far. */
  readonly requests: readonly Body[]
  close(): Promise<void>
}

interface Body {
  readonly stream?: boolean
  readonly max_tokens?: number
  readonly tools?: unknown
  readonly messages: readonly { readonly content: string }[]
}

/** `traitsOf` is asked for each request, with its number from 0. */
export async function startFakeEndpoint(traitsOf: (request: number) => FakeTraits): Promise<FakeEndpoint> {
  const requests: Body[] = []
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      requests.push(body)
      return answer(response, body, traitsOf(requests.length - 1))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function readBody(request: IncomingMessage): Promise<Body> {
  let text = ''
  for await (const read of request.setEncoding('utf8') as AsyncIterable<string>) text += read
  return JSON.parse(text) as Body
}

const USAGE = { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 }
const WORDS = ['one', ' two', ' three', ' four', ' five', ' six', ' seven', ' eight', ' nine', ' ten']
const LONG = JSON.stringify({ text: 'one two three four five six seven eight nine ten eleven twelve thirteen' })

async function answer(response: ServerResponse, body: Body, traits: FakeTraits): Promise<void> {
  if (traits.status !== undefined) return refuse(response, traits.status, traits)
  if ((body.max_tokens ?? 1) < 0) return refuse(response, 400, traits)
  const usage = traits.usage === false ? undefined : USAGE
  if (body.stream !== true || traits.neverStreams === true) {
    const choice = { index: 0, message: { role: 'assistant', content: WORDS.join('') }, finish_reason: 'stop' }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', model: 'fake', choices: [choice], usage }))
    return
  }
  const events: string[] = [
    ...deltasOf(body, traits),
    ...(usage === undefined ? [] : [JSON.stringify({ id: 'c', model: 'fake', choices: [], usage })]),
    ...(traits.sentinel === false ? [] : ['[DONE]']),
  ]
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (traits.fake === true) {
    response.flushHeaders()
    // What makes it fake is the wait: all output is there at once, and late.
    await new Promise((resolve) => setTimeout(resolve, 250))
    response.end(events.map((data) => `data: ${data}\n\n`).join(''))
    return
  }
  for (const data of events) {
    response.write(`data: ${data}\n\n`)
    await new Promise((resolve) => setTimeout(resolve, 3))
  }
  response.end()
}

function chunk(delta: object, finish: string | null = null): string {
  return JSON.stringify({ id: 'c', model: 'fake', choices: [{ index: 0, delta, finish_reason: finish }] })
}

function deltasOf(body: Body, traits: FakeTraits): readonly string[] {
  const isLimited = body.max_tokens === 16
  if (body.tools === undefined || traits.noTools === true) {
    const finish = isLimited && traits.hidesLength !== true ? 'length' : 'stop'
    return [chunk({ role: 'assistant', content: '' }), ...WORDS.map((content) => chunk({ content })), chunk({}, finish)]
  }
  const two = body.messages[0]!.content.includes('"left"') && traits.oneCall !== true
  const texts = two ? ['{"text":"left"}', '{"text":"right"}'] : [LONG]
  const calls = texts.flatMap((text, index) => {
    const pieces = traits.wholeArguments === true ? [text] : (text.match(/.{1,9}/g) ?? [])
    const start = { index, id: `call_${index}`, type: 'function', function: { name: 'store_text', arguments: '' } }
    return [
      chunk({ tool_calls: [start] }),
      ...pieces.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]
  })
  return [...calls, chunk({}, 'tool_calls')]
}

function refuse(response: ServerResponse, status: number, { plainErrors }: FakeTraits): void {
  if (plainErrors === true) {
    response.writeHead(status, { 'content-type': 'text/plain' }).end('something is wrong')
    return
  }
  const error = { message: 'max_tokens is too small', type: 'invalid_request_error', code: null }
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
}
