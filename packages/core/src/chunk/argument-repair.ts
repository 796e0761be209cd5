/** Names of the repairs of argument text; `tool-call/repair.ts` has what each does. None is on by default. */
export const ARGUMENT_REPAIRS = [
  /** Every fragment repeated the ones before it; the last one is taken (fault F039). */
  'cumulative',
  /** The whole document was sent again at the end (fault F041). */
  'repeated',
  /** A JSON string that holds the document (fault F044). */
  'double-encoded',
  /** Template tokens or prose after the document; the first document is taken (fault F055). */
  'trailing-data',
  /** One closing bracket too many (fault F050). */
  'extra-brackets',
  /** The closing brackets are missing, and no string is open (fault F050). */
  'missing-brackets',
  /** Raw control characters inside strings (fault F056). */
  'control-characters',
] as const

/** One of {@link ARGUMENT_REPAIRS}. */
export type ArgumentRepair = (typeof ARGUMENT_REPAIRS)[number]
