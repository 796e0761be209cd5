import { readStrict } from '../json/strict.ts'

/** What is wrong with a text that should be one JSON object. */
export interface ArgumentFault {
  readonly kind: 'cut' | 'merged' | 'escaped' | 'broken'
  /** In words, with places in UTF-16 units; nothing of the text itself. */
  readonly evidence: string
}

/** Looks for the mistakes that honest relays make; undefined where there is none. Linear in the text. */
export function argumentFaultOf(text: string): ArgumentFault | undefined {
  if (text.trim() === '') return undefined
  const read = readStrict(text)
  if (read.ok) {
    return typeof read.value === 'string' && isDocument(read.value)
      ? { kind: 'escaped', evidence: 'the arguments are a JSON string that holds the arguments' }
      : undefined
  }
  const { code, offset } = read
  const begins = /^[{[]/.test(text.slice(offset, offset + 1))
  switch (code) {
    case 'incomplete':
      return { kind: 'cut', evidence: `the text ends after ${text.length} characters, inside the object` }
    case 'trailing_data':
      return begins
        ? { kind: 'merged', evidence: `behind a whole object, another one begins at character ${offset}` }
        : { kind: 'broken', evidence: `something follows a whole object at character ${offset}` }
    case 'invalid':
      if (begins)
        return { kind: 'merged', evidence: `another object begins at character ${offset}, inside the first one` }
      return escapingOf(text, offset) ?? { kind: 'broken', evidence: `no JSON from character ${offset} on` }
    case 'too_deep':
      return { kind: 'broken', evidence: `nested too deep at character ${offset}` }
  }
}

function escapingOf(text: string, offset: number): ArgumentFault | undefined {
  if (text[offset] === '\\') {
    const once = readStrict(`"${text}"`)
    if (once.ok && typeof once.value === 'string' && isDocument(once.value)) {
      return { kind: 'escaped', evidence: `a quote is escaped outside of any string, first at character ${offset}` }
    }
  }
  if (text.charCodeAt(offset) < 0x20 && readStrict(text.replace(CONTROLS, ' ')).ok) {
    return {
      kind: 'escaped',
      evidence: `a control character stands in a string as it is, first at character ${offset}`,
    }
  }
  return undefined
}

/** Also those between tokens: as blanks they mean the same there. */
const CONTROLS = /\p{Cc}/gu

function isDocument(text: string): boolean {
  return /^\s*[{[]/.test(text) && readStrict(text).ok
}
