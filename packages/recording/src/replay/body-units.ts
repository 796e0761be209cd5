/** What a body is made of, by its first byte that says something. */
export type BodyFraming = 'sse' | 'json-lines' | 'aws-event-stream' | 'whole'

/** A stretch of a body: one event with its line ends, one comment block, one line, one frame. */
export interface BodyUnit {
  readonly from: number
  readonly to: number
}

export interface BodyUnits {
  readonly framing: BodyFraming
  /** In order and without gaps: laid end to end they are the body. */
  readonly units: readonly BodyUnit[]
}

const LF = 0x0a
const CR = 0x0d

/**
 * Takes a body apart where its framing ends an event. A body that is no stream of events (a page, one JSON document) is one
 * unit. What the body ends in the middle of is a unit too.
 */
export function bodyUnits(body: Uint8Array): BodyUnits {
  if (body[0] === 0) return { framing: 'aws-event-stream', units: frames(body) }
  const first = body.find((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf)
  if (first === 0x7b || first === 0x5b) {
    const lines = jsonLines(body)
    return lines === undefined ? whole(body) : { framing: 'json-lines', units: lines }
  }
  return first === 0x3c || first === undefined ? whole(body) : { framing: 'sse', units: blocks(body) }
}

/** Offsets between two units: where a plan by event cuts. */
export function unitBorders(body: Uint8Array): readonly number[] {
  return bodyUnits(body)
    .units.slice(1)
    .map(({ from }) => from)
}

function whole(body: Uint8Array): BodyUnits {
  return { framing: 'whole', units: body.length === 0 ? [] : [{ from: 0, to: body.length }] }
}

/** Blocks of an event stream, each with the blank lines behind it. */
function blocks(body: Uint8Array): readonly BodyUnit[] {
  const units: BodyUnit[] = []
  let from = 0
  let sawLine = false
  let blank = false
  for (let at = 0; at < body.length;) {
    const end = lineEnd(body, at)
    const empty = isLineEnd(body[at]!)
    if (!empty && blank) {
      units.push({ from, to: at })
      from = at
      blank = false
    }
    if (!empty) sawLine = true
    else if (sawLine) blank = true
    at = end
  }
  if (from < body.length) units.push({ from, to: body.length })
  return units
}

/** Lines that are JSON each, or undefined where the body is one document over several lines, or none. */
function jsonLines(body: Uint8Array): readonly BodyUnit[] | undefined {
  const units: BodyUnit[] = []
  for (let at = 0; at < body.length;) {
    const end = lineEnd(body, at)
    if (!isJson(body.subarray(at, end))) return undefined
    units.push({ from: at, to: end })
    at = end
  }
  return units.length > 1 ? units : undefined
}

function isJson(line: Uint8Array): boolean {
  const text = new TextDecoder().decode(line).trim()
  if (text === '') return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Frames of `application/vnd.amazon.eventstream`: a big-endian total length comes first. */
function frames(body: Uint8Array): readonly BodyUnit[] {
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  const units: BodyUnit[] = []
  for (let at = 0; at < body.length;) {
    const length = at + 4 <= body.length ? view.getUint32(at) : 0
    // Shorter than its own prelude: no frame, and nothing behind it can be found.
    const to = length < 16 ? body.length : Math.min(body.length, at + length)
    units.push({ from: at, to })
    at = to
  }
  return units
}

/** Offset behind the line that begins here, its line end included. */
export function lineEnd(body: Uint8Array, from: number): number {
  let at = from
  while (at < body.length && !isLineEnd(body[at]!)) at++
  if (at === body.length) return at
  return body[at] === CR && body[at + 1] === LF ? at + 2 : at + 1
}

function isLineEnd(byte: number): boolean {
  return byte === LF || byte === CR
}
