/** Builders of Responses wire text, so that a test reads like its own wire. */

export type Json = unknown
export type WireEvent = Readonly<Record<string, Json>>

export function response(status: string, extra: WireEvent = {}): WireEvent {
  return { id: 'resp_1', object: 'response', status, model: 'm-1', ...extra }
}

export function created(extra: WireEvent = {}): WireEvent {
  return { type: 'response.created', response: response('in_progress', { output: [], usage: null, ...extra }) }
}

/** The final event, `response.completed` with this output and these further fields of the response. */
export function completed(output: Json = [], extra: WireEvent = {}): WireEvent {
  return { type: 'response.completed', response: response('completed', { output, ...extra }) }
}

export function ended(status: string, extra: WireEvent = {}): WireEvent {
  return { type: `response.${status}`, response: response(status, { output: [], ...extra }) }
}

export function added(index: Json, item: Json): WireEvent {
  return { type: 'response.output_item.added', output_index: index, item }
}

export function done(index: Json, item: Json): WireEvent {
  return { type: 'response.output_item.done', output_index: index, item }
}

export function message(text?: string, extra: WireEvent = {}): WireEvent {
  const content = text === undefined ? [] : [{ type: 'output_text', text, annotations: [] }]
  const status = text === undefined ? 'in_progress' : 'completed'
  return { id: 'msg_1', type: 'message', role: 'assistant', status, content, ...extra }
}

export function textDelta(index: Json, delta: Json, extra: WireEvent = {}): WireEvent {
  return {
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: index,
    content_index: 0,
    delta,
    ...extra,
  }
}

export function textDone(index: Json, text: Json): WireEvent {
  return { type: 'response.output_text.done', item_id: 'msg_1', output_index: index, content_index: 0, text }
}

export function functionCall(args: Json, extra: WireEvent = {}): WireEvent {
  const item = { id: 'fc_1', type: 'function_call', call_id: 'call_9', name: 'get_weather', arguments: args }
  return { ...item, status: args === '' ? 'in_progress' : 'completed', ...extra }
}

export function argumentsDelta(index: Json, delta: Json, id: Json = 'fc_1'): WireEvent {
  return { type: 'response.function_call_arguments.delta', item_id: id, output_index: index, delta }
}

export function argumentsDone(index: Json, args: Json, id: Json = 'fc_1', extra: WireEvent = {}): WireEvent {
  return { type: 'response.function_call_arguments.done', item_id: id, output_index: index, arguments: args, ...extra }
}

export const OSLO = '{"city":"Oslo"}'

/** A call in its whole life, from these pieces of arguments. */
export function wholeCall(index: number, pieces: readonly string[], extra: WireEvent = {}): readonly WireEvent[] {
  const whole = functionCall(pieces.join(''), extra)
  const { id } = whole
  return [
    added(index, { ...whole, arguments: '', status: 'in_progress' }),
    ...pieces.map((piece) => argumentsDelta(index, piece, id)),
    argumentsDone(index, pieces.join(''), id),
    done(index, whole),
  ]
}

/** A message in its whole life, from these pieces of text. */
export function wholeMessage(index: number, pieces: readonly string[]): readonly WireEvent[] {
  const text = pieces.join('')
  return [
    added(index, message()),
    ...pieces.map((piece) => textDelta(index, piece)),
    textDone(index, text),
    done(index, message(text)),
  ]
}

/** Gives each event its `sequence_number`, from `first` on. */
export function numbered(events: readonly WireEvent[], first = 0): readonly WireEvent[] {
  return events.map((event, i) => ({ ...event, sequence_number: first + i }))
}

/** An event stream; each event with its name. Text is data as it is. */
export function stream(...events: readonly (WireEvent | string)[]): string {
  return events
    .map((event) =>
      typeof event === 'string'
        ? `data: ${event}\n\n`
        : `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`,
    )
    .join('')
}
