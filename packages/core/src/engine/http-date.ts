const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'

const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`
const MONTH = String.raw`(?<month>[A-Z][a-z]{2})`

/** The day's name says nothing that the date does not, so it is not checked against it. */
const FORMS: readonly RegExp[] = [
  // IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`),
  // RFC 850: Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(String.raw`^[A-Z][a-z]{5,8}, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT$`),
  // asctime: Sun Nov  6 08:49:37 1994
  new RegExp(String.raw`^[A-Z][a-z]{2} ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
]

/**
 * An HTTP-date in milliseconds since 1970, in any of the three forms that RFC 9110 §5.6.7 asks recipients to read; undefined for
 * anything else. No time zone is involved: all three are in GMT.
 *
 * @param nowMs decides the century of a year of two digits: one that seems more than 50 years ahead is in the past
 */
export function parseHttpDate(text: string, nowMs: number): number | undefined {
  const parts = FORMS.map((form) => form.exec(text.trim())?.groups).find((groups) => groups !== undefined)
  if (parts === undefined) return undefined
  const month = MONTHS.indexOf(parts['month']!) / 3
  const [day, hour, minute, second] = [parts['day'], parts['hour'], parts['minute'], parts['second']].map(Number)
  // A leap second is the 60th.
  if (!Number.isInteger(month) || month < 0 || day! < 1 || day! > 31 || hour! > 23 || minute! > 59 || second! > 60) {
    return undefined
  }
  const digits = parts['year']!
  const at = (year: number): number =>
    (((daysSince1970(year, month, day!) * 24 + hour!) * 60 + minute!) * 60 + second!) * 1000
  if (digits.length === 4) return at(Number(digits))
  const thisYear = 1970 + Math.floor(nowMs / YEAR_MS)
  let year = thisYear - (thisYear % 100) + 100 + Number(digits)
  while (at(year) > nowMs + 50 * YEAR_MS) year -= 100
  return at(year)
}

/** Of the Gregorian calendar, on average. */
const YEAR_MS = 365.2425 * 86_400_000

/** Days from 1970-01-01 in the proleptic Gregorian calendar; no clock and no time zone are involved. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month < 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * ((month + 10) % 12) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}
