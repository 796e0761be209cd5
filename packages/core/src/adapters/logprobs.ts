import type { AdapterOutput } from './adapter.ts'
import { isKeepable } from './kept-value.ts'
import { isRecord } from './wire-value.ts'

/** Keeps the log probabilities of an event, which are those of its own tokens: each list under `field.part`. */
export function keepLogprobs(
  raw: unknown,
  field: string,
  parts: readonly string[],
  choice: number,
  out: AdapterOutput,
): void {
  if (!isRecord(raw)) return
  const append: Record<string, readonly unknown[]> = {}
  for (const part of parts) {
    const list = raw[part]
    if (Array.isArray(list) && list.length > 0 && isKeepable(list)) append[`${field}.${part}`] = list
  }
  if (Object.keys(append).length > 0) out.chunks.push({ type: 'metadata', choice, append })
}
