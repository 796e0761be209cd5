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
}

export function createTextBuilder(): TextBuilder {
  return { text: '', batch: '' }
}

export function isEmptyText(builder: TextBuilder): boolean {
  // A batch that is full moves over to `text`, so both have to be looked at.
  return builder.batch === '' && builder.text === ''
}

export function appendText(builder: TextBuilder, piece: string): void {
  const batch = builder.batch + piece
  if (batch.length < BATCH_CHARS) {
    builder.batch = batch
  } else {
    builder.text += builder.batch === '' ? piece : detach(batch)
    builder.batch = ''
  }
}

/** The whole text; the builder is empty afterwards. */
export function takeText(builder: TextBuilder): string {
  const text = builder.text + builder.batch
  builder.text = ''
  builder.batch = ''
  return text
}
