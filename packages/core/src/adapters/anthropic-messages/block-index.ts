import type { IndexKey } from '../slot.ts'

/** `null` when there is none, `undefined` when it can't be read. Numeric text is its number. */
export function indexKey(value: unknown): IndexKey | null | undefined {
  if (value === undefined || value === null || value === '') return null
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
