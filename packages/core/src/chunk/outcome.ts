/** How a stream, or one choice of it, ended. See `docs/architecture.md` for the full table. */
export type Outcome =
  | 'completed'
  | 'degraded'
  | 'truncated'
  | 'refused'
  | 'empty'
  | 'failed'
  | 'incomplete'
  | 'cancelled'

/** Worst first: with several choices, the stream's outcome is the first of these that any choice has. */
export const OUTCOMES_WORST_FIRST: readonly Outcome[] = [
  'cancelled',
  'failed',
  'incomplete',
  'refused',
  'truncated',
  'degraded',
  'empty',
  'completed',
]
