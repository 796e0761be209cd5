import { clip } from 'streamfold/json'
import { messageOf } from '../thrown.ts'

/** What a tool gave, as the ledger keeps it. */
export interface ResultText {
  /** JSON; where `truncated`, a JSON string with the beginning of it. */
  readonly json: string
  readonly truncated: boolean
}

/**
 * The result as text. A result that can't be kept is no failure: the effect has happened. It is recorded as a success with a
 * note, or cut short.
 */
export function resultText(value: unknown, maxBytes: number): ResultText {
  let json: string | undefined
  try {
    json = value === undefined ? 'null' : JSON.stringify(value)
  } catch (error) {
    const why = clip(messageOf(error), 200)
    return { json: JSON.stringify(`[done; the result can't be written as JSON: ${why}]`), truncated: true }
  }
  // Functions and symbols.
  if (json === undefined)
    return { json: JSON.stringify("[done; the result can't be written as JSON]"), truncated: true }
  const bytes = Buffer.byteLength(json)
  // PostgreSQL keeps no NUL in text; JSON.stringify has escaped it.
  if (bytes <= maxBytes) return { json, truncated: false }
  const note = ` [cut: ${bytes} bytes, ${maxBytes} are kept]`
  return { json: JSON.stringify(json.slice(0, Math.floor(maxBytes / 4)) + note), truncated: true }
}
