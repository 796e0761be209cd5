/** Nesting of a provider's value that is kept as it came. Nothing honest comes near it. */
const MAX_KEPT_DEPTH = 128

/**
 * May this value of the wire be kept as it came, in usage or metadata? It must be able to leave again in a report or a
 * snapshot, and `JSON.stringify` recurses: a value that nests a few thousand levels deep would make it throw.
 */
export function isKeepable(value: unknown): boolean {
  return nestsWithin(value, MAX_KEPT_DEPTH)
}

function nestsWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0) return false
  for (const key in value) if (!nestsWithin((value as Record<string, unknown>)[key], levels - 1)) return false
  return true
}

/** JSON text of a value of the wire, for a message or a raw reason. Never throws. */
export function printed(value: unknown): string {
  return isKeepable(value) ? (JSON.stringify(value) ?? String(value)) : '(nested too deeply to be shown)'
}
