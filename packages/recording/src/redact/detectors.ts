/**
 * What a secret looks like. Patterns run over bytes seen as Latin-1, so a match counts bytes, and all of them look inside
 * JSON texts as well as at plain ones: a secret may follow an escaped line end (`\n`), and a slash may be written `\/`.
 */
export interface Detector {
  /** Goes into the list of redactions. */
  readonly kind: string
  /** Found in every match or close before it, and cheap to look for: most reads hold none of it. Absent: always look. */
  readonly hint?: RegExp
  /**
   * The least that makes it a secret, global. It must not span a line end, and must need no more than
   * {@link DETECTOR_WINDOW} bytes, looking behind included.
   */
  readonly start: RegExp
  /**
   * What else belongs to it, sticky: of any length, so nothing has to be held back for it. It is asked until it finds nothing
   * more, and has to be bounded itself: V8 keeps a way back for every turn of a group.
   */
  readonly rest?: RegExp
  /** `rest` takes escapes of two bytes, of which a read may bring only the first. */
  readonly escapes?: true
  /** `start` may take more, or less, when it sees what follows; it has no `rest`. */
  readonly waits?: true
  /** A pattern of the user's: it may span lines and be of any length. */
  readonly unbounded?: true
}

/** How far a detector may have to look before it is sure. */
export const DETECTOR_WINDOW = 512

/** Not inside a word, or behind an escaped line end or tab, whose letter is no part of the word. */
const START = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf]))`
const WORD = '[A-Za-z0-9_-]'
const STRETCH = 4096

const token = (kind: string, hint: RegExp, start: string, rest: string): Detector => ({
  kind,
  hint,
  start: new RegExp(START + start, 'g'),
  rest: new RegExp(`${rest}{1,${STRETCH}}`, 'y'),
})

/** A member of a JSON object, also of one that is written inside a JSON string. */
const MEMBER = (name: string, quote: string): string =>
  String.raw`(?<=${name}${quote}[ \t]{0,4}:[ \t]{0,4}${quote})(?!\*{6})`
const SECRET_NAME =
  '(?:api[_-]?key|access[_-]?token|refresh[_-]?token|auth[_-]?token|id[_-]?token|client[_-]?secret|secret[_-]?key|secret[_-]?access[_-]?key|private[_-]?key|password|passwd|passphrase)'

/** How each of these names ends, quote included. */
const SECRET_NAME_END = /(?:key|token|secret|password|passwd|passphrase)\\{0,7}"/i

/** Kinds that are looked for unless told otherwise. */
export const DEFAULT_DETECTORS: readonly Detector[] = [
  token('api-key', /sk-/, `sk-(?=${WORD}{0,40}[A-Z0-9])${WORD}{16}`, WORD),
  token('api-key', /(?:sk|hf|r8|pk|rk)_/, `(?:gsk|hf|r8|pk|rk|sk)_(?=${WORD}{0,40}[A-Z0-9])${WORD}{20}`, WORD),
  token(
    'api-key',
    /(?:xai|pplx|nvapi|glpat|fw|tvly)-/,
    `(?:xai|pplx|nvapi|glpat|fw|tvly)-(?=${WORD}{0,40}[A-Z0-9])${WORD}{16}`,
    WORD,
  ),
  token('google-key', /AIza/, `AIza${WORD}{30}`, WORD),
  token('google-token', /ya29/, String.raw`ya29\.${WORD}{20}`, '[A-Za-z0-9_.-]'),
  token(
    'github-token',
    /gh[pousr]_|github_pat_/,
    '(?:gh[pousr]_[A-Za-z0-9]{30}|github_pat_[A-Za-z0-9_]{20})',
    '[A-Za-z0-9_]',
  ),
  token('slack-token', /xox/, 'xox[abeprs]-[A-Za-z0-9-]{10}', '[A-Za-z0-9-]'),
  token('aws-key-id', /AKIA|ASIA|ABIA|ACCA/, '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}', '[A-Z0-9]'),
  // Header and payload both begin with {" in base64; either may be long, so only the beginning has to be near.
  token('jwt', /eyJ/, String.raw`eyJ[A-Za-z0-9_-]{8,400}\.eyJ[A-Za-z0-9_-]{4}`, '[A-Za-z0-9_.-]'),
  {
    kind: 'bearer',
    hint: /bearer /i,
    start: /(?<=bearer {1,4})[A-Za-z0-9._~+/=-]{16}/gi,
    rest: /(?:[A-Za-z0-9._~+/=-]|\\\/){1,4096}/y,
    escapes: true,
  },
  {
    kind: 'private-key',
    hint: /-----BEGIN/,
    start: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/g,
    rest: /(?:[A-Za-z0-9+/=:, \t\r\n-]|\\[nrt/]){1,4096}/y,
    escapes: true,
  },
  { ...namedMember(SECRET_NAME, '"'), hint: SECRET_NAME_END },
  { ...namedMember(SECRET_NAME, String.raw`\\{1,7}"`), hint: SECRET_NAME_END },
]

/** E-mail addresses; off unless asked for, for they are often what the answer is about. */
export const EMAIL_DETECTOR: Detector = {
  kind: 'email',
  hint: /@/,
  start:
    /(?:(?<![A-Za-z0-9.%+_-])|(?<=\\[nrtbf]))[A-Za-z0-9.%+_-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}/g,
  waits: true,
}

/** The values of JSON members of these names, texts of six bytes and more. */
export function fieldDetectors(names: readonly string[]): readonly Detector[] {
  if (names.length === 0) return []
  const any = `(?:${names.map(literal).join('|')})`
  return [namedMember(`"${any}`, '"'), namedMember(String.raw`\\"${any}`, String.raw`\\{1,7}"`)]
}

/** A secret that is known by heart, a key from the environment for example. */
export function literalDetector(secret: string): Detector {
  const bytes = new TextEncoder().encode(secret)
  const latin1 = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return { kind: 'known-secret', start: new RegExp(literal(latin1).replaceAll('/', String.raw`\\?/`), 'g') }
}

/** A pattern of the user's. */
export function patternDetector(pattern: RegExp): Detector {
  const flags = `${pattern.flags.replaceAll(/[gy]/g, '')}g`
  return { kind: 'pattern', start: new RegExp(pattern.source, flags), waits: true, unbounded: true }
}

/** In a JSON string inside a JSON string, the first backslash may already be the end of the value. */
function namedMember(name: string, quote: string): Detector {
  const plain = quote === '"'
  return {
    kind: 'named-secret',
    start: new RegExp(
      MEMBER(name, quote) + (plain ? String.raw`(?:[^"\\\r\n]|\\[^\r\n]){6}` : String.raw`[^"\\\r\n]{6}`),
      'gi',
    ),
    rest: plain ? /(?:[^"\\\r\n]|\\[^\r\n]){1,4096}/y : /[^"\\\r\n]{1,4096}/y,
    ...(plain && { escapes: true }),
  }
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
