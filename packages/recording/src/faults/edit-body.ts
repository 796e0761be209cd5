import type { ReplayScript, ScriptEnd, ScriptWrite } from '../replay/replay-script.ts'

/** Bytes that take the place of a stretch of the body; an empty stretch is an insertion before `from`. */
export interface BodyEdit {
  readonly from: number
  readonly to: number
  readonly bytes: Uint8Array
}

export const NO_BYTES: Uint8Array = new Uint8Array(0)

/**
 * The script with its body edited. New bytes are sent with the write that held the first byte they replace, or with the last one
 * at the end of the body. Edits are in order and do not overlap.
 */
export function editBody(script: ReplayScript, edits: readonly BodyEdit[]): ReplayScript {
  if (edits.length === 0) return script
  const writes: ScriptWrite[] = []
  let next = 0
  let offset = 0
  // An edit that reaches over several writes goes on taking bytes from the later ones.
  let goneTo = 0
  const all = script.writes.length === 0 ? [{ atUs: script.head?.atUs ?? 0, bytes: NO_BYTES }] : script.writes
  for (const [i, { atUs, bytes }] of all.entries()) {
    const end = offset + bytes.length
    const last = i === all.length - 1
    const parts: Uint8Array[] = []
    let from = Math.min(end, Math.max(offset, goneTo))
    // The last write takes what is put behind the end of the body, too.
    const before = last ? end + 1 : end
    for (; next < edits.length && edits[next]!.from < before; next++) {
      const edit = edits[next]!
      parts.push(bytes.subarray(from - offset, edit.from - offset), edit.bytes)
      goneTo = edit.to
      from = Math.min(end, edit.to)
    }
    parts.push(bytes.subarray(from - offset))
    writes.push({ atUs, bytes: concat(parts) })
    offset = end
  }
  return { ...script, writes: writes.filter(({ bytes }) => bytes.length > 0) }
}

/** The script up to an offset of its body, and then this end. */
export function truncate(script: ReplayScript, offset: number, kind: ScriptEnd): ReplayScript {
  const writes: ScriptWrite[] = []
  let at = 0
  for (const write of script.writes) {
    if (at >= offset) break
    writes.push({ ...write, bytes: write.bytes.subarray(0, offset - at) })
    at += write.bytes.length
  }
  return { ...script, writes, end: { kind, atUs: writes.at(-1)?.atUs ?? script.head?.atUs ?? 0 } }
}

/** The script with a pause before the byte at `offset` (a write is cut there), which everything behind it is late by. */
export function pauseAt(script: ReplayScript, offset: number, ms: number): ReplayScript {
  const lateUs = Math.round(ms * 1000)
  const writes: ScriptWrite[] = []
  let at = 0
  for (const { atUs, bytes } of script.writes) {
    const before = Math.max(0, Math.min(bytes.length, offset - at))
    if (before > 0) writes.push({ atUs, bytes: bytes.subarray(0, before) })
    if (before < bytes.length) writes.push({ atUs: atUs + lateUs, bytes: bytes.subarray(before) })
    at += bytes.length
  }
  return { ...script, writes, end: { ...script.end, atUs: script.end.atUs + lateUs } }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    result.set(part, at)
    at += part.length
  }
  return result
}
