import * as fc from 'fast-check'

/**
 * Arbitraries of JSON texts and near-JSON texts for the property tests of this folder. Texts are made as text, not by
 * `JSON.stringify`, so that they hold what a serialiser never writes: whitespace anywhere, escapes of plain characters,
 * numbers in every form, duplicate keys.
 */

const blank = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 2 })

const stringUnit = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('a', 'b', 'Z', '0', ' ', '{', '}', '[', ']', ',', ':', 'é', '😀', '\u007f', '\u2028'),
  },
  { weight: 2, arbitrary: fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t') },
  { weight: 1, arbitrary: fc.constantFrom('\\u0041', '\\u005C', '\\uD83D\\ude00', '\\udc00', '\\u0000', '\ud800') },
)

const stringText: fc.Arbitrary<string> = fc.string({ unit: stringUnit, maxLength: 8 }).map((body) => `"${body}"`)

const digit = fc.constantFrom('0', '1', '2', '5', '9')
const digits = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: digit, minLength, maxLength })

/** Any number literal; its exponent is small enough to be compared by writing the number out. */
export const numberText: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      fc.tuple(fc.constantFrom('1', '4', '9'), digits(0, 20)).map(([first, rest]) => first + rest),
    ),
    fc.oneof(
      fc.constant(''),
      digits(1, 22).map((fraction) => `.${fraction}`),
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      {
        weight: 1,
        arbitrary: fc
          .tuple(
            fc.constantFrom('e', 'E'),
            fc.constantFrom('', '+', '-'),
            fc.nat({ max: 340 }),
            fc.constantFrom('', '0'),
          )
          .map(([e, sign, exponent, zero]) => `${e}${sign}${zero}${exponent}`),
      },
    ),
  )
  .map((parts) => parts.join(''))

const keyText = fc.oneof(
  fc.constantFrom('"a"', '"\\u0061"', '"b"', '""', '"__proto__"', '"\\u005f_proto__"', '"constructor"'),
  stringText,
)

const { value, object } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(fc.constantFrom('true', 'false', 'null'), numberText, stringText),
    tie('array'),
    tie('object'),
  ),
  array: fc
    .tuple(blank, fc.array(fc.tuple(blank, tie('value'), blank), { maxLength: 4 }))
    .map(([space, items]) => (items.length === 0 ? `[${space}]` : `[${items.map((item) => item.join('')).join(',')}]`)),
  object: fc
    .tuple(blank, fc.array(fc.tuple(blank, keyText, blank, blank, tie('value'), blank), { maxLength: 4 }))
    .map(([space, members]) =>
      members.length === 0
        ? `{${space}}`
        : `{${members.map(([s1, key, s2, s3, member, s4]) => `${s1}${key}${s2}:${s3}${member}${s4}`).join(',')}}`,
    ),
}))

/** A valid document of any kind, with whitespace around it. */
export const documentText: fc.Arbitrary<string> = fc.tuple(blank, value, blank).map((parts) => parts.join(''))

/** A valid document that is an object, with nothing around it. */
export const objectText: fc.Arbitrary<string> = object

const piece = fc.constantFrom(
  ...'{}[],:"\\/-+.01e9Eutrflsanx \n\t\u0000\u001f\u007f\u00a0\ufeffé\ud800'.split(''),
  '"a"',
  'true',
  'false',
  'null',
  '\\u00',
  '1.5',
)

/** A valid document with one to three places changed: something put in, taken out, or both. */
export const mutatedText: fc.Arbitrary<string> = fc
  .tuple(
    documentText,
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.oneof(fc.constant(''), piece)), { minLength: 1, maxLength: 3 }),
  )
  .map(([text, changes]) => {
    let changed = text
    for (const [place, removed, added] of changes) {
      const at = place % (changed.length + 1)
      changed = changed.slice(0, at) + added + changed.slice(at + removed)
    }
    return changed
  })

/** Pieces of JSON in any order. */
export const randomText: fc.Arbitrary<string> = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''))

export const anyText: fc.Arbitrary<string> = fc.oneof(
  documentText,
  mutatedText,
  randomText,
  fc.string({ unit: 'binary' }),
)

/** Ways to cut: the lengths of the pieces, used over and over. Empty pieces are among them. */
export const cuts: fc.Arbitrary<number[]> = fc
  .array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 6 })
  .filter((lengths) => lengths.some((length) => length > 0))

export function cut(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = []
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1
    pieces.push(text.slice(at, at + length))
    at += length
  }
  return pieces
}
