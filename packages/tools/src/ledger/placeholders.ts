import type { SqlValue } from '../store/store.ts'

/** Placeholders of several rows: `(first, $3, $4), (first, $5, $6)`, counted on from `used`. */
export function rowsOf(rows: readonly (readonly SqlValue[])[], used: number, first: string): string {
  let next = used
  return rows.map((row) => `(${first}, ${row.map(() => `$${(next += 1)}`).join(', ')})`).join(', ')
}

/** Placeholders of a list: `$3, $4, $5`, counted on from `used`. */
export function listOf(values: readonly unknown[], used: number): string {
  return values.map((_, at) => `$${used + at + 1}`).join(', ')
}
