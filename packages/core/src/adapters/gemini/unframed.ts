import type { ServerSentEvent } from '../../sse/event.ts'

/**
 * The JSON that an event block is when none of its lines is written as a field: this API's servers put an error into a stream as
 * bare, often indented JSON. Undefined for anything else, and for one that the body ends in the middle of.
 */
export function unframedJson(event: ServerSentEvent): unknown {
  if (event.data !== '' || event.fields === undefined) return undefined
  const lines = event.fields.map(({ name, value }) => (value === '' ? name : `${name}:${value}`))
  if (!/^\s*[{[]/.test(lines[0] ?? '')) return undefined
  try {
    return JSON.parse(lines.join('\n'))
  } catch {
    return undefined
  }
}
