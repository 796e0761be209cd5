import { clip } from '../json/clip.ts'
import { isRecord } from '../json/value.ts'

/** Options come from callers that may not be typed: what is misspelt would silently leave its default in force. */

/** @throws TypeError for what is no object of options, and for a name that is none of the known */
export function checkNames(who: string, options: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof options !== 'object' || options === null) throw new TypeError(`${who} takes an object of options`)
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue
    throw new TypeError(`${who}: unknown option "${clip(name, 40)}"; ${amongKnown(name, Object.keys(known))}`)
  }
}

/** What is known, after the one that was probably meant. */
export function amongKnown(given: string, names: readonly string[]): string {
  const wanted = bare(given)
  const near = names.find((name) => {
    const other = bare(name)
    return other === wanted || (wanted.length > 3 && (other.startsWith(wanted) || wanted.startsWith(other)))
  })
  return `${near === undefined ? '' : `did you mean ${near}? `}known are ${names.join(', ')}`
}

function bare(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '')
}

/** @throws TypeError for a body that is no object: JSON text would be sent as JSON of a text */
export function checkBody(who: string, body: unknown): void {
  if (isRecord(body)) return
  const next =
    typeof body === 'string'
      ? 'pass the object itself, not its JSON'
      : 'pass { model, messages: [...] } or what the API takes'
  throw new TypeError(`${who}: body must be an object, not ${shown(body)}; ${next}`)
}

/** @throws TypeError for a key that is no text, which would be sent as the word "null" for example */
export function checkKey(who: string, apiKey: unknown): void {
  if (apiKey === undefined || typeof apiKey === 'string') return
  throw new TypeError(`${who}: apiKey must be a string, not ${shown(apiKey)}; leave it out where no key is needed`)
}

/** Of what kind it is; never what is in it. */
export function shown(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : value === undefined ? 'undefined' : `a ${typeof value}`
}
