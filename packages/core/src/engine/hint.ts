/**
 * Where the evidence of a report points: at the client, the server, a hop in between, or behind the stream. A hint never changes a
 * result. Each code has a section in `docs/diagnosis.md`.
 */
export const HINTS = {
  wrong_api: 'the body is that of another API than it was read as: read it with the adapter of its own API',
  calls_mixed:
    "fragments can't be told apart by call: the server gives several calls one index, or none; run no call of this answer, and ask for one call at a time until the server is repaired",
  index_reused:
    'the server gives several calls one index: keep calls apart by id, as was done here, wherever else this stream is read',
  arguments_merged:
    'arguments of several calls, or of a call sent twice, were merged into one text: look at how fragments are matched to calls, and at retries that append to what is there',
  arguments_escaped:
    'arguments are escaped once too often or once too little: look for something that serialises them again, or pastes them into JSON as they are',
  arguments_broken:
    'the stream is whole and the arguments are no JSON: merged or wrongly escaped, by the tool parser of the server or a hop that rewrites events; compare with a recording of the upstream',
  arguments_cut:
    'the stream closed the call well and the end of its arguments is missing: the tool parser of the server lost it, or a hop did; compare with a recording of the upstream',
  arguments_lost_on_the_way:
    'the upstream sent more of the arguments than arrived here: the hop in between cuts the stream, or still holds the rest in a buffer',
  calls_lost_on_the_way:
    'the upstream sent calls that never arrived here: the hop in between drops or rewrites their events',
  calls_missing:
    'the finish reason announces calls and none came: look for a hop or a translation that drops their events, and at the API that the events belong to',
  call_in_text:
    'a call is printed as text: the tool parser or the chat template of the server does not fit the model; switch it on, or choose the one made for the model',
  buffering_hop:
    'events are gathered and come in bursts: a proxy buffers, or the server does; switch its buffering off (nginx: proxy_buffering off), send X-Accel-Buffering: no, and measure the path with probe-path',
  silence_before_the_cut:
    'the stream was cut after a silence: an idle timeout on the way ended it; raise it above the longest pause of the model, or send heartbeats',
  not_executed:
    'the calls are whole, valid and released, and nothing ran them: the stream is not to blame; look at authorization and approvals first, then at the queue and its workers',
} as const

export type HintCode = keyof typeof HINTS

export interface Hint {
  readonly code: HintCode
  /** What it points at and what to do: {@link HINTS}. */
  readonly message: string
  /** The facts that it follows from, each with its numbers; lengths and places, never content. */
  readonly evidence: readonly string[]
  readonly callId?: string
}
