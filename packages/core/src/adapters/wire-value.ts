export { isRecord } from '../json/value.ts'

/** Absent or `null`, which say the same. */
export function isNothing(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

/** Identity fields: absent, `null`, empty, white space and the literal text `null` all say nothing (faults F068, F072, F073). */
export function identity(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string' || value === '' || value === 'null') return undefined
  return value.trim() === '' ? undefined : value
}

/** A name is text: a number or a value in its place says nothing. */
export function nameText(value: unknown): string | undefined {
  return typeof value === 'string' ? identity(value) : undefined
}

/** A counter of usage; anything but a finite number says nothing. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** Which of several choices a number stands for; undefined when it is no whole number from 0. Absent is `fallback`. */
export function choiceIndex(value: unknown, fallback: number): number | undefined {
  if (isNothing(value) || value === '') return fallback
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

/**
 * The key that the wire gives a block or call: a number, or a text (numeric text is its number). Absent is undefined; `null` means
 * that it can't be read, so whatever stands under it is lost.
 */
export function blockKey(value: unknown): number | string | undefined | null {
  if (isNothing(value) || value === '') return undefined
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return null
  const number = Number(value)
  return value.trim() !== '' && Number.isFinite(number) ? number : `text:${value}`
}
