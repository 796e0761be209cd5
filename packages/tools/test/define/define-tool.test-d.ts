import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type } from 'arktype'
import type { JsonObject } from 'streamfold'
import * as v from 'valibot'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/define/define-tool.ts'
import type { FromJsonSchema } from '../../src/define/infer-arguments.ts'
import type { JsonSchema } from '../../src/define/json-schema.ts'
import type { StandardSchema } from '../../src/define/standard-schema.ts'
import type { Tool } from '../../src/define/tool.ts'

const BASE = { name: 'probe', description: 'For the type test.', effect: 'read' } as const
const OBJECT = { type: 'object' } as const

/** A JSON Schema literal types args. */
export function aJsonSchemaTypesArgs(): void {
  defineTool({
    ...BASE,
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer', minimum: 1 },
        unit: { enum: ['c', 'f'] },
        where: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        tags: { type: 'array', items: { type: 'string' } },
        at: { type: ['number', 'null'] },
        kind: { const: 'daily' },
        more: { type: 'object', additionalProperties: { type: 'boolean' } },
      },
      required: ['city', 'unit'],
    },
    execute(args) {
      expectTypeOf(args).toEqualTypeOf<{
        city: string
        unit: 'c' | 'f'
        days?: number
        where?: string | null
        tags?: string[]
        at?: number | null
        kind?: 'daily'
        more?: { [name: string]: boolean }
      }>()
      return args.city
    },
  })
}

/** A schema that is only known to be one gives an object. */
export function aWideSchemaGivesAnObject(): void {
  const parameters: JsonSchema = { type: 'object' }
  defineTool({
    ...BASE,
    parameters,
    execute(args) {
      expectTypeOf(args).toEqualTypeOf<JsonObject>()
    },
  })
}

/** Zod, valibot and arktype type args with their output. */
export function librariesTypeArgs(): void {
  defineTool({
    ...BASE,
    parameters: z.object({ n: z.string().transform(Number), note: z.string().optional() }),
    execute(args) {
      expectTypeOf(args).toEqualTypeOf<{ n: number; note?: string | undefined }>()
    },
  })
  defineTool({
    ...BASE,
    parameters: v.object({ n: v.pipe(v.string(), v.transform(Number)) }),
    inputSchema: OBJECT,
    execute(args) {
      expectTypeOf(args).toEqualTypeOf<{ n: number }>()
    },
  })
  defineTool({
    ...BASE,
    parameters: type({ n: 'number', 'note?': 'string' }),
    execute(args) {
      expectTypeOf(args).toEqualTypeOf<{ n: number; note?: string }>()
    },
  })
}

/** Every function of the tool sees the same args. */
export function everyFunctionSeesTheSameArgs(): void {
  const tool = defineTool({
    ...BASE,
    parameters: z.object({ id: z.string() }),
    operationId: (args) => args.id,
    resources: (args) => [{ kind: 'id', type: 'order', id: args.id, allowed: true }],
    approve: (args) => args.id === 'x',
    execute: (args) => args.id.length,
  })
  expectTypeOf(tool).toEqualTypeOf<Tool<{ id: string }, number>>()
  expectTypeOf(tool).toExtend<Tool>()
}

/** A wrong use of args, an unknown effect and a missing effect are compile errors. */
export function mistakesAreCompileErrors(): void {
  defineTool({
    ...BASE,
    parameters: z.object({ id: z.string() }),
    // @ts-expect-error -- id is a string
    execute: (args) => args.id.toFixed(),
  })
  // @ts-expect-error -- there is no default effect
  defineTool({ name: 'a', description: 'b', parameters: OBJECT, execute: () => 1 })
  // @ts-expect-error -- not an effect
  defineTool({ ...BASE, effect: 'safe', parameters: OBJECT, execute: () => 1 })
}

/** The Standard Schema type of the specification is ours. */
export function theSpecificationFits(): void {
  expectTypeOf<StandardSchemaV1<string, number>>().toExtend<StandardSchema<string, number>>()
}

/** What types cannot say is the next wider type. */
export function whatTypesCannotSay(): void {
  expectTypeOf<FromJsonSchema<{ $ref: '#/$defs/x' }>>().toEqualTypeOf<unknown>()
  expectTypeOf<FromJsonSchema<{ type: 'array' }>>().toEqualTypeOf<unknown[]>()
  expectTypeOf<FromJsonSchema<{ oneOf: readonly [{ type: 'string' }, { type: 'number' }] }>>().toEqualTypeOf<
    string | number
  >()
}
