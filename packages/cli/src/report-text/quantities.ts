/** Bytes for people: `812 B`, `18.2 kB`, `3.1 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

export function durationText(ms: number): string {
  return ms >= 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${millisecondsText(ms)} ms`
}

/** Whole milliseconds, with a tenth where it matters. */
export function millisecondsText(ms: number): string {
  return String(ms >= 10 ? Math.round(ms) : Number(ms.toFixed(1)))
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
