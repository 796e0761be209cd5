/**
 * The same text in memory of its own.
 *
 * Engines make `slice` cheap by pointing into the parent, so a 20-character id can keep the 64 KiB of text it was cut
 * from alive. What outlives a read goes through here. Putting a character in front builds a new string, and slicing it
 * off again makes the engine write that string out.
 */
export function detach(text: string): string {
  return ` ${text}`.slice(1)
}

/** `detach` where it pays: for a small part of a large text. */
export function detachSmall(part: string, wholeLength: number): string {
  return wholeLength > 1024 && part.length < wholeLength / 2 ? detach(part) : part
}
