import { detach } from './detach.ts'

/** Pieces are gathered up to this length before they become one string. */
const BATCH_CHARS = 4096

/**
 * Text that arrives in pieces of any size: each character is copied a bounded number of times.
 *
 * `+=` on its own is linear too, engines build a tree of pieces and write it out once. But a tree node costs some 32
 * bytes, so an event that trickles in byte by byte would take 32 times its size. Small pieces are therefore written
 * out in batches; one that is a batch by itself goes straight in.
 */
export interface TextBuilder {
  text: string
  batch: string
  /** One of the pieces holds U+FFFD for bytes that were not UTF-8. */
  replaced: boolean
}

/** Adds a piece to a text, or begins one with it. */
export function appendText(builder: TextBuilder | undefined, piece: string, replaced: boolean): TextBuilder {
  const whole = builder ?? { text: '', batch: '', replaced: false }
  const batch = whole.batch + piece
  if (replaced) whole.replaced = true
  if (batch.length < BATCH_CHARS) {
    whole.batch = batch
  } else {
    whole.text += whole.batch === '' ? piece : detach(batch)
    whole.batch = ''
  }
  return whole
}

export function textOf({ text, batch }: TextBuilder): string {
  return text + batch
}
