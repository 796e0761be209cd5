/** What one request is answered with; a function may fail, or never settle. */
export type Answer = Response | ((signal: AbortSignal) => Promise<Response>)

export interface SentRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface FakeFetch {
  readonly fetch: typeof fetch
  readonly sent: readonly SentRequest[]
}

/** A `fetch` that gives these answers one after the other and keeps what it was asked; one question too many is a mistake. */
export function fakeFetch(...answers: readonly Answer[]): FakeFetch {
  const sent: SentRequest[] = []
  const left = [...answers]
  return {
    sent,
    fetch: async (input, init = {}) => {
      sent.push({
        url: input instanceof Request ? input.url : `${input}`,
        method: init.method ?? 'GET',
        headers: init.headers as Record<string, string>,
        body: JSON.parse(init.body as string) as unknown,
      })
      const answer = left.shift()
      if (answer === undefined) throw new RangeError(`request ${sent.length}, and no answer is left`)
      return typeof answer === 'function' ? answer(init.signal as AbortSignal) : answer
    },
  }
}

export function eventStream(body: BodyInit): Response {
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

export interface OpenBody {
  readonly response: Response
  write(text: string): void
  close(): void
  fail(error: Error): void
  /** The reader gave the body up. */
  readonly cancelled: boolean
  /** It was ended from this side. */
  readonly closed: boolean
  /** Everything that was written was read. */
  readonly taken: boolean
}

/** A body that is written while it is read. */
export function openBody(): OpenBody {
  let controller: ReadableStreamDefaultController<Uint8Array>
  const state = { cancelled: false, closed: false }
  const stream = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given
    },
    cancel: () => {
      state.cancelled = true
    },
  })
  return {
    response: eventStream(stream),
    write: (text) => controller.enqueue(new TextEncoder().encode(text)),
    close: () => {
      state.closed = true
      controller.close()
    },
    fail: (error) => {
      state.closed = true
      controller.error(error)
    },
    get taken() {
      return controller.desiredSize === 1
    },
    get cancelled() {
      return state.cancelled
    },
    get closed() {
      return state.closed
    },
  }
}

/** Chat Completions events. */
export const WIRE = {
  role: event({ delta: { role: 'assistant', content: '' } }),
  text: (content: string): string => event({ delta: { content } }),
  call: (id: string, name: string, args: string): string =>
    event({ delta: { tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: args } }] } }),
  finish: (reason: string): string => event({ delta: {}, finish_reason: reason }),
  done: 'data: [DONE]\n\n',
} as const

function event(choice: object): string {
  return `data: ${JSON.stringify({ id: 'r', model: 'm', choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`
}

export const HELLO: string = WIRE.role + WIRE.text('hel') + WIRE.text('lo') + WIRE.finish('stop') + WIRE.done
