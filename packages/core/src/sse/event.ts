/**
 * One dispatched block of a `text/event-stream` body.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export interface ServerSentEvent {
  /** The `data` lines of the block, joined with LF. */
  data: string
  /** The block's `event` field, when it was set and not empty. */
  event?: string
  /** The last event ID in force when the block was dispatched; sticky over blocks, absent while none was set. */
  id?: string
  /** Reconnection time in milliseconds, when this block set it. */
  retry?: number
  /** The server never terminated this block: it is what was left at the end of the body. */
  incomplete?: true
  /** The data holds U+FFFD where the body had bytes that are not UTF-8. */
  invalidUtf8?: true
  /** Fields whose name the standard does not know, when the parser was asked to deliver them. */
  fields?: readonly { readonly name: string; readonly value: string }[]
  /** Byte offset of the block's first line in the body; present when the parser was asked for offsets. */
  offset?: number
  /** Byte offset just past the line end of the block's last line; present when the parser was asked for offsets. */
  endOffset?: number
}
