import type { BodyFraming } from '../replay/body-units.ts'

const encoder = new TextEncoder()

/** The data of a unit: what an event stream's parser would join, or the line itself. Undefined for a comment or a blank. */
export function unitData(framing: BodyFraming, bytes: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(bytes)
  if (framing === 'aws-event-stream') return undefined
  if (framing !== 'sse') return text.trim() === '' ? undefined : text.trim()
  const data = linesOf(text).filter((line) => /^data(?::|$)/.test(line))
  return data.length === 0 ? undefined : data.map((line) => line.slice(5).replace(/^ /, '')).join('\n')
}

/** The unit with other data, and everything else of it kept: event name, id, comments, line ends. */
export function withData(framing: BodyFraming, bytes: Uint8Array, data: string): Uint8Array {
  const text = new TextDecoder().decode(bytes)
  const end = /\r\n|\r|\n/.exec(text)?.[0] ?? ''
  if (framing !== 'sse') return encoder.encode(data + end)
  let placed = false
  const lines = linesOf(text).flatMap((line) => {
    if (!/^data(?::|$)/.test(line)) return [line]
    if (placed) return []
    placed = true
    return [`data: ${data}`]
  })
  return encoder.encode(lines.join(end))
}

/** An event that fits between the others of this body. */
export function newEvent(framing: BodyFraming, data: string, name?: string): Uint8Array {
  if (framing !== 'sse') return encoder.encode(`${data}\n`)
  return encoder.encode(`${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`)
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r\n|\r|\n/)
}
