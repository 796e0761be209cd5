/** What a hop did to a stream on its way from the upstream to the entry. */
export const CHANGES = {
  status_changed: 'the status is another',
  headers_changed: 'response headers were dropped, added or changed',
  content_type_changed: 'the content type is another',
  coding_changed: 'the content coding is another',
  bom_dropped: 'a byte order mark was dropped',
  bom_added: 'a byte order mark was added',
  line_ends_rewritten: 'line ends were rewritten',
  comments_dropped: 'comment lines were dropped',
  comments_added: 'comment lines were added',
  empty_lines_merged: 'empty lines were dropped between events',
  empty_lines_added: 'empty lines were added between events',
  events_merged: 'events were merged into one',
  events_split: 'an event was split',
  events_dropped: 'events were dropped',
  events_injected: 'events were injected',
  events_changed: 'events were changed',
  event_names_changed: 'event names or ids were changed',
  json_rewritten: 'JSON was written anew: same values, other text',
  truncated: 'the end of the stream is missing',
  end_changed: 'the stream ended in another way',
  bytes_changed: 'bytes differ in a way that no event shows',
} as const

export type ChangeCode = keyof typeof CHANGES

export interface Change {
  readonly code: ChangeCode
  readonly message: string
  /** How often, where it can be counted. */
  readonly count?: number
  /** Number of the first event concerned, from 1, on the upstream's side; on the entry's for what was added there. */
  readonly event?: number
  /** Offset of the same in that side's body. */
  readonly offset?: number
}
