import { type } from 'arktype'
import type { JsonObject } from 'streamfold'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/define/define-tool.ts'
import type { ToolDefinition } from '../../src/define/define-tool.ts'
import type { JsonSchema } from '../../src/define/json-schema.ts'
import { SchemaError } from '../../src/validate/schema-error.ts'

type Definition = ToolDefinition<JsonSchema, unknown>

const WEATHER: Definition = {
  name: 'get_weather',
  description: 'The weather of a city.',
  effect: 'read',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: () => 'sunny',
}

describe('a definition is checked when it is made', () => {
  test.each<[string, Partial<Definition>, RegExp]>([
    ['no name', { name: '' }, /name of a tool/],
    ['a name with a dot', { name: 'a.b' }, /name of a tool/],
    ['65 characters', { name: 'a'.repeat(65) }, /at most 64/],
    ['no description', { description: ' ' }, /get_weather.*description/],
    ['an effect that is none', { effect: 'safe' as 'read' }, /read, idempotent, queryable, unsafe/],
    ['queryable without query', { effect: 'queryable' }, /query/],
    ['query without queryable', { query: () => ({ state: 'pending' }) }, /query/],
    ['no time at all', { timeoutMs: 0 }, /timeoutMs/],
    ['more time than a timer holds', { timeoutMs: 2 ** 31 }, /timeoutMs.*at most 2147483647/],
    ['no number', { maxArgumentBytes: NaN }, /maxArgumentBytes/],
    ['two schemas', { inputSchema: { type: 'object' } }, /parameters is the JSON Schema/],
  ])('%s', (_what, wrong, message) => {
    expect(() => defineTool({ ...WEATHER, ...wrong })).toThrow(TypeError)
    expect(() => defineTool({ ...WEATHER, ...wrong })).toThrow(message)
  })

  test('a misspelt type names the tool, the place, the value and the types there are', () => {
    const parameters = { type: 'object', properties: { city: { type: 'strng' } } }
    expect(() => defineTool({ ...WEATHER, parameters })).toThrow(
      "tool get_weather: the schema can't be used:\n" +
        '/properties/city/type: "strng" is no type; the types are string, number, integer, boolean, null, object, array, or ' +
        'a list of them',
    )
  })

  test('a required field that is not there is a finding', () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['town'] }
    expect(defineTool({ ...WEATHER, parameters }).schemaFindings).toEqual([
      { severity: 'warning', path: '/required', message: '"town" is required, and is no field of properties' },
    ])
  })

  test('a schema with errors names the tool and every error', () => {
    const parameters = JSON.parse('{"type":"array","properties":{"__proto__":{}}}') as JsonSchema
    expect(() => defineTool({ ...WEATHER, parameters })).toThrow(SchemaError)
    expect(() => defineTool({ ...WEATHER, parameters })).toThrow(/tool get_weather:[^]*\/type: [^]*\/properties: /)
  })

  test('a tool is frozen, with a schema of its own and its hash', () => {
    const tool = defineTool(WEATHER)
    expect(Object.isFrozen(tool)).toBe(true)
    expect(tool.inputSchema).toEqual(WEATHER.parameters)
    expect(tool.schemaHash).toMatch(/^[0-9a-f]{64}$/)
    const { properties, ...rest } = WEATHER.parameters
    expect(defineTool({ ...WEATHER, parameters: { properties: properties ?? {}, ...rest } }).schemaHash).toBe(
      tool.schemaHash,
    )
    expect('query' in tool).toBe(false)
  })

  test('`this` in its functions stays the definition', async () => {
    const definition = {
      ...WEATHER,
      reply: 'rain',
      execute(): string {
        return this.reply
      },
    }
    expect(defineTool(definition).execute({}, {} as never)).toBe('rain')
  })
})

const STANDARD = [
  { name: 'zod', parameters: z.object({ city: z.string().min(2), days: z.number().int().default(3) }) },
  { name: 'arktype', parameters: type({ city: 'string >= 2', days: 'number.integer = 3' }) },
  {
    name: 'valibot',
    parameters: v.object({
      city: v.pipe(v.string(), v.minLength(2)),
      days: v.optional(v.pipe(v.number(), v.integer()), 3),
    }),
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city'],
    },
  },
] as const

describe.each(STANDARD)('$name', ({ parameters, ...rest }) => {
  const base = { description: 'd', effect: 'read', execute: () => 1 } as const
  const inputSchema = 'inputSchema' in rest ? { inputSchema: rest.inputSchema } : {}
  const tool = defineTool({ ...base, ...inputSchema, name: rest.name, parameters })

  test('the JSON Schema names the fields of the input', () => {
    expect(Object.keys(tool.inputSchema['properties'] as JsonObject).toSorted()).toEqual(['city', 'days'])
    expect(tool.inputSchema['required']).toEqual(['city'])
  })

  test('the tool gets the output: defaults are filled in, the input is left alone', async () => {
    const input = Object.freeze({ city: 'Bonn' })
    expect(await tool.validator.validate(input)).toEqual({ ok: true, value: { city: 'Bonn', days: 3 } })
    expect(input).toEqual({ city: 'Bonn' })
  })

  test('what does not fit is refused, with its path', async () => {
    expect(await tool.validator.validate({ city: 7 })).toMatchObject({ ok: false, issues: [{ path: '/city' }] })
    expect(await tool.validator.validate({ city: 'B' })).toMatchObject({ ok: false, issues: [{ path: '/city' }] })
  })

  test('a field the schema does not name is refused, not dropped', async () => {
    const result = await tool.validator.validate({ city: 'Bonn', country: 'DE' })
    expect(result).toMatchObject({ ok: false, issues: [{ path: '/country' }] })
    const open = defineTool({ ...base, ...inputSchema, name: rest.name, parameters, unknownFields: 'allow' })
    expect(await open.validator.validate({ city: 'Bonn', country: 'DE' })).toMatchObject({ ok: true })
  })
})

const changing = (value: unknown) => ({ value: Object.assign(value as { a: number }, { a: 2 }) })

// Takes digits for numbers, and drops what it does not know.
const counts = (value: unknown) => ({ counts: (value as { counts: unknown[] }).counts.map(Number) })

describe('Standard Schema', () => {
  const base = { name: 'probe', description: 'd', effect: 'read', execute: () => 1 } as const

  test('a library that gives no JSON Schema needs one', () => {
    expect(() => defineTool({ ...base, parameters: v.object({}) })).toThrow(/valibot.*inputSchema/)
  })

  test('a schema that JSON Schema cannot express needs one', () => {
    expect(() => defineTool({ ...base, parameters: z.object({ at: z.date() }) })).toThrow(/inputSchema/)
  })

  test('a value that is converted reaches the tool converted', async () => {
    const tool = defineTool({
      ...base,
      parameters: z.object({ at: z.iso.datetime().transform((text) => new Date(text)) }),
    })
    expect(await tool.validator.validate({ at: '2026-01-02T03:04:05Z' })).toEqual({
      ok: true,
      value: { at: new Date('2026-01-02T03:04:05Z') },
    })
  })

  test('alternatives are told apart before fields are called unknown', async () => {
    const parameters = z.object({
      shape: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('circle'), r: z.number() }),
        z.object({ kind: z.literal('square'), side: z.number() }),
      ]),
    })
    const tool = defineTool({ ...base, parameters })
    expect(await tool.validator.validate({ shape: { kind: 'circle', r: 1 } })).toMatchObject({ ok: true })
    expect(await tool.validator.validate({ shape: { kind: 'square', side: 1 } })).toMatchObject({ ok: true })
    expect(await tool.validator.validate({ shape: { kind: 'circle', r: 1, side: 2 } })).toMatchObject({ ok: false })
  })

  describe('a field that the library would drop is found behind values that it converts', () => {
    const count = { type: 'integer' } as const
    const tool = defineTool({
      ...base,
      parameters: {
        '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value: counts(value) }) },
      },
      inputSchema: {
        type: 'object',
        properties: {
          counts: { type: 'array', items: { $ref: '#/$defs/count' } },
          more: { type: 'object', properties: { note: { type: 'string' } } },
        },
        $defs: { count },
      },
    })

    test.each([
      ['one', { counts: ['1'], extra: 1 }, '/extra'],
      ['further inside', { counts: ['1'], more: { note: 1, extra: 1 } }, '/more/extra'],
      [
        'behind more than are told',
        { counts: Array.from({ length: 40 }, () => '1'), more: { extra: 1 } },
        '/more/extra',
      ],
      ['in a long input', { counts: ['1', '2'.repeat(20_000)], more: { extra: 1 } }, '/more/extra'],
    ])('%s', async (_, input, path) => {
      expect(await tool.validator.validate(input)).toMatchObject({ ok: false, issues: [{ path }] })
    })

    test('and without it they pass', async () => {
      expect(await tool.validator.validate({ counts: ['1', 2], more: { note: 1 } })).toMatchObject({
        ok: true,
        value: { counts: [1, 2] },
      })
    })
  })

  test('a schema with a pattern of its own library is taken', async () => {
    // Its pattern has look-aheads: the library runs it, not we.
    const tool = defineTool({ ...base, parameters: z.object({ to: z.email() }) })
    expect(await tool.validator.validate({ to: 'a@example.com' })).toMatchObject({ ok: true })
    expect(await tool.validator.validate({ to: 'no' })).toMatchObject({ ok: false, issues: [{ path: '/to' }] })
  })

  test('a schema that changes what it checks changes a copy', async () => {
    const parameters = { '~standard': { version: 1, vendor: 'own', validate: changing } } as const
    const tool = defineTool({ ...base, parameters, inputSchema: { type: 'object' } })
    const input = { a: 1 }
    expect(await tool.validator.validate(input)).toEqual({ ok: true, value: { a: 2 } })
    expect(input).toEqual({ a: 1 })
  })

  test('refusing without a reason is refusing', async () => {
    const parameters = { '~standard': { version: 1, vendor: 'own', validate: () => ({ issues: [] }) } } as const
    const tool = defineTool({ ...base, parameters, inputSchema: { type: 'object' } })
    expect(await tool.validator.validate({})).toEqual({
      ok: false,
      issues: [{ path: '', expected: 'valid arguments' }],
    })
  })
})
