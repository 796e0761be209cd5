import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RedactionPolicy } from '../../src/redact/redaction-policy.ts'
import type { RedactionOptions } from '../../src/redact/redaction-policy.ts'
import type { Redaction, SettledRead } from '../../src/redact/body-redactor.ts'
import { AWS, GITHUB, GOOGLE, JWT, PEM, SK } from './secrets.ts'

const SEED = 20261130

interface Redacted {
  readonly text: string
  readonly redactions: readonly Redaction[]
  readonly lengths: readonly number[]
}

function redact(reads: readonly (string | Uint8Array)[], options: RedactionOptions = {}): Redacted {
  const redactor = new RedactionPolicy(options).body()
  const settled: SettledRead[] = []
  reads.forEach((read, at) => void settled.push(...redactor.push(Buffer.from(read as string), at)))
  settled.push(...redactor.end())
  expect(settled.map(({ atUs }) => atUs)).toEqual(reads.map((_, at) => at))
  return {
    text: Buffer.concat(settled.map(({ bytes }) => bytes)).toString(),
    redactions: redactor.redactions(),
    lengths: settled.map(({ bytes }) => bytes.length),
  }
}

const stars = (text: string): string => '*'.repeat(Buffer.byteLength(text))

describe('what is masked', () => {
  test.each([
    { name: 'an OpenAI key', text: `{"content":"use ${SK} now"}`, secret: SK, kind: 'api-key' },
    { name: 'a key behind an escaped line end', text: `{"a":"\\n${SK}"}`, secret: SK, kind: 'api-key' },
    { name: 'a Google key', text: `{"a":"${GOOGLE}"}`, secret: GOOGLE, kind: 'google-key' },
    { name: 'an AWS key id', text: `id=${AWS};`, secret: AWS, kind: 'aws-key-id' },
    { name: 'a GitHub token', text: `${GITHUB}\n`, secret: GITHUB, kind: 'github-token' },
    { name: 'a JWT of any length', text: `"${JWT}"`, secret: JWT, kind: 'jwt' },
    { name: 'a private key in a JSON text', text: `{"k":"${PEM}"}`, secret: PEM, kind: 'private-key' },
    {
      name: 'a bearer token',
      text: 'authorization: Bearer abcdefgh01234567/+',
      secret: 'abcdefgh01234567/+',
      kind: 'bearer',
    },
    { name: 'a member named password', text: '{"password": "hunter2-ü"}', secret: 'hunter2-ü', kind: 'named-secret' },
    { name: 'one with escapes', text: '{"apiKey":"a\\"bcdefgh\\\\"}', secret: 'a\\"bcdefgh\\\\', kind: 'named-secret' },
    {
      name: 'one in a JSON text in a JSON text',
      text: '{"arguments":"{\\"password\\":\\"hunter22\\"}"}',
      secret: 'hunter22',
      kind: 'named-secret',
    },
    { name: 'at the very end', text: `x ${SK}`, secret: SK, kind: 'api-key' },
  ])('$name', ({ text, secret, kind }) => {
    const { text: masked, redactions } = redact([text])
    expect(masked).toBe(text.replace(secret, stars(secret)))
    const off = Buffer.byteLength(text.slice(0, text.indexOf(secret)))
    expect(redactions).toEqual([{ off, len: Buffer.byteLength(secret), kind }])
    // What was masked stays as it is: a second pass finds nothing.
    expect(redact([masked])).toEqual({
      text: masked,
      redactions: [],
      lengths: [masked.length].map(() => Buffer.byteLength(masked)),
    })
  })

  test.each([
    { name: 'a word that ends like a key begins', text: 'ask-something-reasonable-of-a-task-that-is-Long1' },
    { name: 'a name with dashes', text: '"sk-circle-fade-dot-and-more-of-it"' },
    { name: 'a short value', text: '{"password":"short"}' },
    { name: 'no value', text: '{"password":null,"token":""}' },
    { name: 'an e-mail address', text: 'someone@mail.example' },
    { name: 'base64 of something else', text: `"${'eyJhIjoxfQ'.repeat(20)}"` },
  ])('not $name', ({ text }) => {
    expect(redact([text])).toMatchObject({ text, redactions: [] })
  })
})

describe('what can be asked for', () => {
  test.each<{ name: string; options: RedactionOptions; text: string; masked: string }>([
    {
      name: 'e-mail addresses',
      options: { email: true },
      text: 'to a.b@mail.example, or',
      masked: 'to ****************, or',
    },
    {
      name: 'known secrets',
      options: { secrets: ['pa/ss€'] },
      text: '"pa\\/ss€" pa/ss€',
      masked: `"${stars('pa\\/ss€')}" ${stars('pa/ss€')}`,
    },
    {
      name: 'members by name',
      options: { fields: ['ssn'] },
      text: '{"ssn":"123-45-6789","b":1}',
      masked: '{"ssn":"***********","b":1}',
    },
    {
      name: 'patterns, over line ends too, which stay',
      options: { patterns: [/begin.*?end/s] },
      text: 'a begin\nx end b',
      masked: 'a *****\n***** b',
    },
    { name: 'a pattern that matches nothing everywhere', options: { patterns: [/x*/] }, text: 'axxb', masked: 'a**b' },
  ])('$name', ({ options, text, masked }) => {
    expect(redact([text], options).text).toBe(masked)
    expect(redact(text.split(''), options).text).toBe(masked)
  })

  test('a secret too short to be told from text is a mistake', () => {
    expect(() => new RedactionPolicy({ secrets: ['abc'] })).toThrow(/a secret of 3 bytes/)
    expect(() => new RedactionPolicy({ secrets: ['a'] })).toThrow(/a secret of 1 byte would/)
  })
})

describe('reads', () => {
  const body = `data: {"a":"${SK}"}\n\ndata: {"password":"hunter22","b":"${GOOGLE}"}\n\ndata: {"c":"${PEM}","d":"ü🙂"}\n\n: ${JWT}\n\ndata: {"arguments":"{\\"api_key\\":\\"0123456789\\"}"}\r\n\r\n${AWS}`
  const whole = redact([body])

  test('the sample has all of them', () => {
    expect(whole.redactions.map(({ kind }) => kind)).toEqual([
      'api-key',
      'named-secret',
      'google-key',
      'private-key',
      'jwt',
      'named-secret',
      'aws-key-id',
    ])
  })

  test('any cut gives the same, and keeps the reads as they are', () => {
    const bytes = Buffer.from(body)
    for (let cut = 1; cut < bytes.length; cut++) {
      const { text, redactions, lengths } = redact([bytes.subarray(0, cut), bytes.subarray(cut)])
      expect(lengths).toEqual([cut, bytes.length - cut])
      expect(text).toBe(whole.text)
      expect(redactions).toEqual(whole.redactions)
    }
    const single = redact([...bytes].map((byte) => Uint8Array.of(byte)))
    expect([single.text, single.redactions]).toEqual([whole.text, whole.redactions])
  })

  test('any text, cut anywhere', () => {
    const piece = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.constantFrom(
        SK,
        GOOGLE,
        JWT,
        PEM,
        AWS,
        '"password":"',
        '\\"token\\":\\"',
        'Bearer ',
        '\\',
        '\\n',
        '"',
        '\n',
        'sk-',
        'eyJ',
        '🙂',
      ),
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
        (pieces, at) => {
          const bytes = Buffer.from(pieces.join(''))
          const cuts = [
            0,
            ...at.map((share) => Math.floor(share * bytes.length)).toSorted((a, b) => a - b),
            bytes.length,
          ]
          const reads = cuts.slice(1).map((to, index) => bytes.subarray(cuts[index], to))
          const once = redact([bytes])
          const cut = redact(reads)
          expect(cut.text).toBe(once.text)
          expect(cut.redactions).toEqual(once.redactions)
          expect(Buffer.byteLength(once.text)).toBe(bytes.length)
        },
      ),
      { seed: SEED, numRuns: 2000 },
    )
  })

  test('a whole line is given out at once, an unfinished one when it is too long to begin a secret', () => {
    const redactor = new RedactionPolicy().body()
    const push = (text: string): number => redactor.push(Buffer.from(text), 0).length
    expect(push('data: {"a":1}\n\n')).toBe(1)
    expect(push('data: s')).toBe(0)
    expect(push('k-')).toBe(0)
    expect(push('x\n')).toBe(3)
    expect(push('y'.repeat(513))).toBe(0)
    expect(push('y'.repeat(511))).toBe(0)
    expect(push('y')).toBe(1)
    expect(redactor.end()).toHaveLength(2)
  })

  test('megabytes of one secret', () => {
    const long = `{"password":"${'ab'.repeat(3_000_000)}"}`
    expect(redact([long]).redactions).toEqual([{ off: 13, len: 6_000_000, kind: 'named-secret' }])
  })
})
