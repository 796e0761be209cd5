import { ARGUMENT_REPAIRS } from '../chunk/argument-repair.ts'
import { FINISH_REASONS } from '../chunk/finish-reason.ts'
import { clip } from '../json/clip.ts'
import { isRecord } from '../json/value.ts'
import { printed } from './kept-value.ts'
import type { ProviderProfile } from './profile.ts'

type Check = (value: unknown) => string | undefined

const evidence = oneOf('required', 'optional')
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false')

const FIELDS: Readonly<Record<keyof ProviderProfile, Check>> = {
  sentinel: evidence,
  finishReason: evidence,
  finishAliases: (value) => {
    const known = oneOf(...FINISH_REASONS)
    if (!isRecord(value)) return 'an object of finish reasons'
    const wrong = Object.entries(value).find(([, reason]) => known(reason) !== undefined)
    return wrong === undefined ? undefined : `${known(wrong[1])} at "${wrong[0]}"`
  },
  nameMerge: oneOf('verify', 'append'),
  idChange: oneOf('conflict', 'keep-first'),
  toolIndex: oneOf('use', 'ignore'),
  cumulativeText: flag,
  thinkTags: flag,
  repairs: (value) => {
    const known = oneOf(...ARGUMENT_REPAIRS)
    if (!Array.isArray(value)) return 'a list of repairs'
    const wrong: unknown = value.find((repair) => known(repair) !== undefined)
    return wrong === undefined ? undefined : `a list of ${known(wrong)}`
  },
}

/**
 * Checks a profile that came from a file. Nothing in it is ignored: a misspelt field would silently leave its default in force.
 *
 * @throws TypeError that names the field and what it may be
 */
export function readProfile(value: unknown): ProviderProfile {
  if (!isRecord(value)) throw new TypeError('a profile must be an object')
  for (const [field, content] of Object.entries(value)) {
    if (!Object.hasOwn(FIELDS, field)) {
      throw new TypeError(`a profile has no field "${field.slice(0, 40)}"; known are ${Object.keys(FIELDS).join(', ')}`)
    }
    if (content === undefined) continue
    const expected = FIELDS[field as keyof ProviderProfile](content)
    if (expected !== undefined) {
      throw new TypeError(`the profile's ${field} must be ${expected}, not ${clip(printed(content), 60)}`)
    }
  }
  return value
}

function oneOf(...known: readonly string[]): Check {
  return (value) => (typeof value === 'string' && known.includes(value) ? undefined : `one of ${known.join(', ')}`)
}
