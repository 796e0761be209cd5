import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPartialJsonReader } from '../../src/json/partial.ts'
import type { PartialJsonOptions, PartialJsonReader, PartialJsonState } from '../../src/json/partial.ts'
import { openPath, toPlain } from '../../src/json/partial-value.ts'
import type { PartialJson, PartialString } from '../../src/json/partial-value.ts'
import { judge } from './json-oracle.ts'
import { anyText, cut, cuts, documentText } from './json-texts.ts'
import { plainText, textOf } from './partial-text.ts'

const SEED = 16_180_339

function readerOf(pieces: readonly string[], options?: PartialJsonOptions): PartialJsonReader {
  const reader = createPartialJsonReader(options)
  for (const piece of pieces) reader.push(piece)
  return reader
}

const seen = (reader: PartialJsonReader): unknown => ({
  value: textOf(reader.value()),
  state: reader.state,
  offset: reader.invalidOffset,
})

/** The value after each piece. */
function valuesOf(pieces: readonly string[]): (PartialJson | undefined)[] {
  const reader = createPartialJsonReader()
  return pieces.map((piece) => {
    reader.push(piece)
    return reader.value()
  })
}

/** `want` is what is shown, in the notation of `textOf`: what is open is not closed. */
interface Row {
  readonly name: string
  readonly text: string
  readonly want: string
}

const arriving: Row[] = [
  { name: 'nothing', text: '', want: '' },
  { name: 'an object begins', text: '{', want: '{' },
  { name: 'an array begins', text: ' [', want: '[' },
  { name: 'a string begins', text: '"', want: '"' },

  { name: 'a key is not shown', text: '{"ab', want: '{' },
  { name: 'nor is a whole key without value', text: '{"ab"', want: '{' },
  { name: 'nor a key with its colon', text: '{"ab": ', want: '{' },
  { name: 'a member shows with its value', text: '{"ab":"', want: '{"ab":"' },
  { name: 'a later key', text: '{"a":"x","b', want: '{"a":"x"' },
  { name: 'a container as a value', text: '{"a":[', want: '{"a":[' },
  { name: 'a key with an escape', text: '{"\\u0061\\n":[', want: '{"a\\n":[' },
  { name: 'a key with a surrogate pair', text: '{"\\ud83d\\ude00":[', want: '{"😀":[' },
  { name: 'a key that ends with a high surrogate', text: '{"\\ud83d":[', want: '{"\\ud83d":[' },
  { name: 'an empty key', text: '{"":"', want: '{"":"' },
  { name: 'a key __proto__', text: '{"__proto__":{', want: '{"__proto__":{' },
  { name: 'a key that came before', text: '{"a":1,"a":"x', want: '{"a":1,"a":"x' },

  { name: 'a string grows', text: '["ab', want: '["ab' },
  { name: 'a string is closed', text: '["ab"', want: '["ab"' },
  { name: 'an empty string is closed', text: '[""', want: '[""' },
  { name: 'a backslash is held back', text: '["ab\\', want: '["ab' },
  { name: 'an escape is decoded', text: '["ab\\n', want: '["ab\\n' },
  { name: 'all short escapes', text: '["\\"\\\\\\/\\b\\f\\n\\r\\t', want: '["\\"\\\\/\\b\\f\\n\\r\\t' },
  { name: '\\u is held back', text: '["ab\\u', want: '["ab' },
  { name: '\\u00e is held back', text: '["ab\\u00e', want: '["ab' },
  { name: '\\u00e9 is decoded', text: '["ab\\u00e9', want: '["abé' },
  { name: 'both letter cases of \\u', text: '["\\u00aF', want: '["¯' },
  { name: 'an escaped quote does not close', text: '["a\\"', want: '["a\\"' },
  { name: 'a raw high surrogate is held back', text: '["ab\ud83d', want: '["ab' },
  { name: 'an escaped high surrogate is held back', text: '["ab\\uD83D', want: '["ab' },
  { name: 'so it is while the next escape is read', text: '["ab\\ud83d\\ude0', want: '["ab' },
  { name: 'an escaped pair', text: '["ab\\ud83d\\ude00', want: '["ab😀' },
  { name: 'half raw, half escaped', text: '["ab\ud83d\\ude00', want: '["ab😀' },
  { name: 'a high surrogate without its half', text: '["ab\\ud83dx', want: '["ab\\ud83dx' },
  { name: 'two high surrogates', text: '["ab\\ud83d\\ud83d', want: '["ab\\ud83d' },
  { name: 'a low surrogate alone', text: '["ab\\udc00', want: '["ab\\udc00' },
  { name: 'the first high surrogate', text: '["ab\\ud800', want: '["ab' },
  { name: 'the last high surrogate', text: '["ab\udbff', want: '["ab' },
  { name: 'the first low surrogate', text: '["ab\udc00', want: '["ab\\udc00' },
  { name: 'the quote ends the waiting', text: '["ab\\ud83d"', want: '["ab\\ud83d"' },

  { name: 'a digit is held back', text: '[1', want: '[' },
  { name: 'two digits are held back', text: '[1,10', want: '[1' },
  { name: 'a minus is held back', text: '[-', want: '[' },
  { name: 'a comma delimits', text: '[10,', want: '[10' },
  { name: 'a blank delimits', text: '[10\n', want: '[10' },
  { name: 'a bracket delimits', text: '[[10]', want: '[[10]' },
  { name: 'a brace delimits', text: '[{"a":10}', want: '[{"a":10}' },
  { name: 'a number as a value is held back with its key', text: '{"a":-1.5e+3', want: '{' },
  { name: 'and shown with it', text: '{"a":-1.5e+3 ', want: '{"a":-1500' },
  { name: '-0 stays', text: '[-0,', want: '[-0' },
  { name: 'true is held back', text: '[true', want: '[' },
  { name: 'tru is held back', text: '[tru', want: '[' },
  { name: 'null as a value is held back', text: '{"a":null', want: '{' },
  { name: 'literals are delimited', text: '[true,false\t,[null]', want: '[true,false,[null]' },
  { name: 'a number at the top waits for a blank', text: '10', want: '' },

  { name: 'closed inside, open outside', text: '{"a":{"b":[{},[]]}', want: '{"a":{"b":[{},[]]}' },
]

const whole: Row[] = [
  { name: 'blanks around', text: ' {"a" : [ 1 , 2 ] } \n', want: '{"a":[1,2]}' },
  { name: 'empty object', text: '{ }', want: '{}' },
  { name: 'empty array', text: '[ ]', want: '[]' },
  { name: 'string at the top', text: '"a"', want: '"a"' },
  { name: 'literal at the top', text: 'null', want: 'null' },
  { name: 'number at the top', text: '10 ', want: '10' },
]

/** What is shown when the fault is met, and where that is. */
const faulty: (Row & { readonly offset: number })[] = [
  { name: 'byte order mark', text: '\ufeff{}', want: '', offset: 0 },
  { name: 'no JSON at all', text: 'hello', want: '', offset: 0 },
  { name: 'closing bracket first', text: ']', want: '', offset: 0 },
  { name: 'wrong bracket', text: '["a"}]', want: '["a"', offset: 4 },
  { name: 'wrong bracket behind a number', text: '[1,2}]', want: '[1', offset: 4 },
  { name: 'wrong bracket in an empty array', text: '[}', want: '[', offset: 1 },
  { name: 'wrong bracket in an empty object', text: '{]', want: '{', offset: 1 },
  { name: 'comma after the last item', text: '[1,]', want: '[1', offset: 3 },
  { name: 'comma after the last member', text: '{"a":"x",}', want: '{"a":"x"', offset: 9 },
  { name: 'comma first', text: '[,', want: '[', offset: 1 },
  { name: 'key without quotes', text: '{a', want: '{', offset: 1 },
  { name: 'missing colon', text: '{"a" "b"', want: '{', offset: 5 },
  { name: 'missing comma', text: '["a" "b"', want: '["a"', offset: 5 },
  { name: 'missing value', text: '{"a":}', want: '{', offset: 5 },
  { name: 'raw line break in a string', text: '["ab\ncd"]', want: '["ab', offset: 4 },
  { name: 'raw line break in a key', text: '{"a\n":1}', want: '{', offset: 3 },
  { name: 'unknown escape', text: '["ab\\x"]', want: '["ab', offset: 5 },
  { name: 'quote inside \\u', text: '["ab\\u00"]', want: '["ab', offset: 8 },
  { name: 'g is no hex digit', text: '["\\u000g', want: '["', offset: 7 },
  { name: 'leading zero', text: '[01', want: '[', offset: 2 },
  { name: 'point without digits', text: '[1.]', want: '[', offset: 3 },
  { name: 'exponent without digits', text: '[1e,', want: '[', offset: 3 },
  { name: 'minus without digits', text: '[- ', want: '[', offset: 2 },
  { name: 'plus', text: '[+1', want: '[', offset: 1 },
  { name: 'misspelt literal', text: '[trux', want: '[', offset: 4 },
  { name: 'glued literals', text: '[truefalse', want: '[', offset: 5 },
  { name: 'NaN', text: '[NaN', want: '[', offset: 1 },
  { name: 'second document', text: '{"a":1}{"b":2}', want: '{"a":1}', offset: 7 },
  { name: 'text behind a document', text: '{} x', want: '{}', offset: 3 },
  { name: 'text behind a number', text: '10x', want: '', offset: 2 },
  { name: 'text behind a literal', text: 'truex', want: 'true', offset: 4 },
]

const inState = (state: PartialJsonState, rows: readonly (Row & { offset?: number })[]) =>
  rows.map((row) => ({ offset: undefined, ...row, state: row.text.trim() === '' ? 'empty' : state }))

describe('createPartialJsonReader', { timeout: 60_000 }, () => {
  test.each([...inState('partial', arriving), ...inState('whole', whole), ...inState('invalid', faulty)])(
    '$state, $name: $text',
    ({ text, want, state, offset }) => {
      expect(seen(readerOf([text]))).toEqual({ value: want, state, offset })
      expect(seen(readerOf(text.split('')))).toEqual({ value: want, state, offset })
    },
  )

  test('a fault is final, and the value stays', () => {
    const reader = readerOf(['{"a":"xy', '\n"'])
    const value = reader.value()
    reader.push('"}')
    expect(seen(reader)).toEqual({ value: '{"a":"xy', state: 'invalid', offset: 8 })
    expect(reader.value()).toBe(value)
  })

  test('a value that nobody asked for before the fault is the one before the fault', () => {
    expect(textOf(readerOf(['[1,"ab\\n', 'cd\n ef']).value())).toBe('[1,"ab\\ncd')
  })

  test('an empty piece changes nothing', () => {
    const reader = readerOf(['["a', '', '\\', '', 'n', ''])
    expect(seen(reader)).toEqual({ value: '["a\\n', state: 'partial', offset: undefined })
  })

  test('nesting beyond maxDepth is a fault', () => {
    expect(seen(readerOf(['[{"a":['], { maxDepth: 3 }))).toEqual({
      value: '[{"a":[',
      state: 'partial',
      offset: undefined,
    })
    expect(seen(readerOf(['[{"a":[['], { maxDepth: 3 }))).toEqual({ value: '[{"a":[', state: 'invalid', offset: 7 })
    expect(readerOf(['1 '], { maxDepth: 0 }).state).toBe('whole')
    expect(readerOf(['{'], { maxDepth: 0 }).state).toBe('invalid')
    expect(readerOf(['{'], { maxDepth: Number.NaN }).state).toBe('invalid')
  })

  test('without maxDepth the limit is 128, and siblings do not count', () => {
    expect(readerOf(['['.repeat(128)]).state).toBe('partial')
    expect(readerOf(['['.repeat(129)]).invalidOffset).toBe(128)
    expect(readerOf([`[${'[[]],'.repeat(200)}[]]`]).state).toBe('whole')
  })

  test('depth costs no stack', () => {
    const depth = 20_000
    const reader = readerOf(['['.repeat(depth), '"x'], { maxDepth: Infinity })
    expect(openPath(reader.value())).toBe('/0'.repeat(depth))
    reader.push(`"${']'.repeat(depth)}`)
    expect(reader.state).toBe('whole')
    let plain = toPlain(reader.value())
    for (let at = 0; at < depth; at++) plain = (plain as unknown[])[0]
    expect(plain).toBe('x')
  })

  test('reset begins anew, from any state, and leaves earlier values alone', () => {
    const reader = createPartialJsonReader({ maxDepth: 2 })
    for (const text of ['{"a":["b\\ud83d', '[1', '[tru', '{"a', '[]x', '"\\u00']) {
      reader.push(text)
      const before = reader.value()
      const shown = textOf(before)
      reader.reset()
      expect(seen(reader)).toEqual({ value: '', state: 'empty', offset: undefined })
      reader.push('["x",[[')
      expect(seen(reader)).toEqual({ value: '["x",[', state: 'invalid', offset: 6 })
      expect(textOf(before)).toBe(shown)
      reader.reset()
    }
  })

  test('value() is the same object until there is more to show', () => {
    const reader = createPartialJsonReader()
    const changes: string[] = []
    let last = reader.value()
    for (const unit of ' {"a" : "x\\u0041" , "b" : [ 10 , true ] , "c":"\\ud83d\\ude00"} \n') {
      reader.push(unit)
      const value = reader.value()
      expect(reader.value()).toBe(value)
      if (value !== last) changes.push(textOf(value))
      last = value
    }
    expect(changes).toEqual([
      '{',
      '{"a":"',
      '{"a":"x',
      '{"a":"xA',
      '{"a":"xA"',
      '{"a":"xA","b":[',
      '{"a":"xA","b":[10',
      '{"a":"xA","b":[10,true',
      '{"a":"xA","b":[10,true]',
      '{"a":"xA","b":[10,true],"c":"',
      '{"a":"xA","b":[10,true],"c":"😀',
      '{"a":"xA","b":[10,true],"c":"😀"',
      '{"a":"xA","b":[10,true],"c":"😀"}',
    ])
  })
})

describe('against JSON.parse', { timeout: 60_000 }, () => {
  test(`a delimited document ends as what JSON.parse gives, for every cut (seed ${SEED})`, () => {
    fc.assert(
      fc.property(documentText, cuts, (text, lengths) => {
        const want = { plain: plainText(JSON.parse(text)), state: 'whole' }
        for (const pieces of [cut(`${text} `, lengths), [`${text} `], `${text} `.split('')]) {
          const reader = readerOf(pieces)
          expect({ plain: plainText(toPlain(reader.value())), state: reader.state }).toEqual(want)
        }
      }),
      { seed: SEED, numRuns: 1000 },
    )
  })

  test(`every text is taken or refused as JSON.parse does, at the same place (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { state, invalidOffset } = readerOf([`${text} `])
        expect({ state, offset: invalidOffset }).toEqual(judged(`${text} `))
      }),
      { seed: SEED, numRuns: 500 },
    )
  })

  test(`every value on the way is what JSON.parse gives for the text mended at its end (seed ${SEED})`, () => {
    fc.assert(
      fc.property(documentText, (text) => {
        const values = valuesOf(text.split(''))
        const got = values.map((value) => ({ plain: plainText(toPlain(value)), open: openCount(value) }))
        expect(got).toEqual(values.map((_, at) => mend(text.slice(0, at + 1))))
      }),
      { seed: SEED, numRuns: 300 },
    )
  })
})

describe('on the way', { timeout: 60_000 }, () => {
  test(`every value is a prefix of the next one and of the last (seed ${SEED})`, () => {
    fc.assert(
      fc.property(documentText, (text) => {
        const values = valuesOf(`${text} `.split('')).filter((value) => value !== undefined)
        const last = values[values.length - 1] as PartialJson
        const wrong = values.filter((value, at) => !isPrefix(value, values[at + 1] ?? last) || !isPrefix(value, last))
        expect(wrong.map(textOf)).toEqual([])
      }),
      { seed: SEED, numRuns: 500 },
    )
  })

  test.each([
    ['{"a":"x', '{"a":"xy"}', true],
    ['{"a":"x', '{"a":"y"}', false],
    ['{"a":"x"', '{"a":"xy"}', false],
    ['[1,2,', '[1]', false],
    ['[1,2,', '[1,3]', false],
    ['["a"]', '["a","b"]', false],
    ['{"a":[', '{"b":[]}', false],
    ['[', '{}', false],
  ])('isPrefix: %s of %s is %s', (earlier, later, want) => {
    const [before, after] = [earlier, later].map((text) => readerOf([text]).value() as PartialJson)
    expect(isPrefix(before as PartialJson, after as PartialJson)).toBe(want)
  })

  test(`what is shown of a text does not depend on its cuts, JSON or not (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyText, cuts, (text, lengths) => {
        const reader = createPartialJsonReader()
        let prefix = ''
        for (const piece of cut(text, lengths)) {
          reader.push(piece)
          prefix += piece
          expect(seen(reader)).toEqual(seen(readerOf([prefix])))
        }
      }),
      { seed: SEED, numRuns: 1000 },
    )
  })

  test(`a text that turns out not to be JSON shows what came before the fault (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const reader = readerOf([text])
        fc.pre(reader.invalidOffset !== undefined)
        const before = readerOf([text.slice(0, reader.invalidOffset)])
        expect(before.state).not.toBe('invalid')
        expect(textOf(reader.value())).toBe(textOf(before.value()))
      }),
      { seed: SEED, numRuns: 1000 },
    )
  })

  test(`earlier values never change (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyText, cuts, (text, lengths) => {
        const reader = createPartialJsonReader()
        const taken = cut(text, lengths).map((piece) => {
          reader.push(piece)
          const value = reader.value()
          return { value, shown: textOf(value), plain: plainText(toPlain(value)) }
        })
        for (const { value, shown, plain } of taken) {
          expect({ shown: textOf(value), plain: plainText(toPlain(value)) }).toEqual({ shown, plain })
        }
      }),
      { seed: SEED, numRuns: 500 },
    )
  })

  test(`what is finished keeps its identity, and so does a value with nothing new (seed ${SEED})`, () => {
    fc.assert(
      fc.property(documentText, cuts, (text, lengths) => {
        const values = valuesOf(cut(`${text} `, lengths)).filter((value) => value !== undefined)
        const wrong = values.slice(1).filter((value, at) => {
          const before = values[at] as PartialJson
          return !isShared(before, value) || (textOf(before) === textOf(value) && before !== value)
        })
        expect(wrong.map(textOf)).toEqual([])
      }),
      { seed: SEED, numRuns: 500 },
    )
  })

  test('the views of two moments share what did not change between them', () => {
    const reader = readerOf(['{"a":{"x":[1,2]},"b":[{"y":"z"},"te'])
    const earlier = reader.value()
    reader.push('xt')
    const later = reader.value()
    if (earlier?.kind !== 'object' || later?.kind !== 'object') throw new Error('no objects')
    const [earlierB, laterB] = [earlier.get('b'), later.get('b')]
    if (earlierB?.kind !== 'array' || laterB?.kind !== 'array') throw new Error('no arrays')
    expect(later).not.toBe(earlier)
    expect(later.get('a')).toBe(earlier.get('a'))
    expect(laterB).not.toBe(earlierB)
    expect(laterB.at(0)).toBe(earlierB.at(0))
    expect([textOf(earlierB.at(1)), textOf(laterB.at(1))]).toEqual(['"te', '"text'])
  })
})

/** What the reader should find out about a text that is delimited. */
function judged(text: string): { state: PartialJsonState; offset: number | undefined } {
  if (!/[^ \t\r\n]/.test(text)) return { state: 'empty', offset: undefined }
  const verdict = judge(text)
  if (verdict.ok) return { state: 'whole', offset: undefined }
  if (verdict.code === 'incomplete') return { state: 'partial', offset: undefined }
  return { state: 'invalid', offset: verdict.offset }
}

/**
 * `earlier` can become `later` by adding at its end alone: what is closed is the same value, an open string is a beginning
 * of the later one, an open array or object has the same items or members, the last one at most being a prefix in turn.
 */
function isPrefix(earlier: PartialJson, later: PartialJson): boolean {
  if (!earlier.open) return textOf(later) === textOf(earlier)
  if (earlier.kind !== later.kind) return false
  if (earlier.kind === 'string') return (later as PartialString).text.startsWith(earlier.text)
  const [before, after] = [membersOf(earlier), membersOf(later)]
  return before.every(([key, value], at) => {
    const [laterKey, laterValue] = after[at] ?? []
    const isLast = at === before.length - 1
    return laterKey === key && laterValue !== undefined && (isLast || !value.open) && isPrefix(value, laterValue)
  })
}

/** Closed nodes of `earlier` are the same objects in `later`. */
function isShared(earlier: PartialJson, later: PartialJson): boolean {
  if (!earlier.open) return earlier === later
  const after = membersOf(later)
  return membersOf(earlier).every(([, value], at) => isShared(value, (after[at] as [unknown, PartialJson])[1]))
}

function membersOf(node: PartialJson): (readonly [key: unknown, value: PartialJson])[] {
  if (node.kind === 'object') return [...node.entries()]
  return node.kind === 'array' ? [...node].map((item, at) => [at, item] as const) : []
}

/** Open nodes; they must lie on one path, each the last child of the one before. */
function openCount(node: PartialJson | undefined): number {
  if (node?.open !== true) return 0
  const members = membersOf(node)
  return 1 + openCount(members[members.length - 1]?.[1])
}

/**
 * The slow way to a preview, by search: what may not be shown yet is cut off, then the shortest possible end, so that
 * closing what is open gives JSON.
 */
function mend(prefix: string): { plain: string | undefined; open: number } {
  const inString = closersOf(prefix).startsWith('"')
  const delimited = inString ? withoutHeldBack(prefix) : withoutScalar(prefix)
  for (let end = delimited.length; end > 0; end--) {
    const closers = closersOf(delimited.slice(0, end))
    // A key is a string, too; what ends inside it doesn't become JSON by closing it.
    const plain = parsedText(delimited.slice(0, end) + closers)
    if (plain !== undefined) return { plain, open: closers.length }
  }
  return { plain: undefined, open: 0 }
}

function withoutHeldBack(prefix: string): string {
  return prefix
    .replace(/(?<!\\)((?:\\\\)*)\\(?:u[\da-fA-F]{0,3})?$/, '$1')
    .replace(/[\ud800-\udbff]$|(?<!\\)((?:\\\\)*)\\u[dD][89abAB][\da-fA-F]{2}$/, '$1')
}

/** Without the number or literal at its end, unless that is a literal and the whole document. */
function withoutScalar(prefix: string): string {
  return /^\s*(?:true|false|null)$/.test(prefix) ? prefix : prefix.replace(/[-+.\w]+$/, '')
}

function parsedText(text: string): string | undefined {
  try {
    return plainText(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** The quote and the brackets that the beginning of a document lacks. */
function closersOf(text: string): string {
  const brackets: string[] = []
  const quotes = text.replaceAll(/\\(?:.|$)/gs, '').split('"')
  for (const [at, between] of quotes.entries()) {
    if (at % 2 === 1) continue
    for (const character of between) {
      if (character === '{') brackets.unshift('}')
      else if (character === '[') brackets.unshift(']')
      else if (character === '}' || character === ']') brackets.shift()
    }
  }
  return (quotes.length % 2 === 0 ? '"' : '') + brackets.join('')
}
