import { expect, test } from 'vitest'
import { z } from 'zod'
import { toolDeclarations } from '../../src/define/declarations.ts'
import type { ToolApi } from '../../src/define/declarations.ts'
import { defineTool } from '../../src/define/define-tool.ts'

const schema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] } as const
const strictSchema = { ...schema, additionalProperties: false }
const base = { description: 'Finds.', effect: 'read', parameters: schema, execute: () => 1 } as const
const TOOLS = [defineTool({ ...base, name: 'find' }), defineTool({ ...base, name: 'seek', strict: true })]
const [find, seek] = [
  { name: 'find', description: 'Finds.' },
  { name: 'seek', description: 'Finds.' },
]

test.each<[ToolApi, unknown]>([
  [
    'chat_completions',
    [
      { type: 'function', function: { ...find, parameters: schema } },
      { type: 'function', function: { ...seek, parameters: strictSchema, strict: true } },
    ],
  ],
  [
    'responses',
    [
      { type: 'function', ...find, parameters: schema, strict: false },
      { type: 'function', ...seek, parameters: strictSchema, strict: true },
    ],
  ],
  [
    'anthropic_messages',
    [
      { ...find, input_schema: schema },
      { ...seek, input_schema: strictSchema, strict: true },
    ],
  ],
  [
    'gemini',
    [
      {
        functionDeclarations: [
          { ...find, parametersJsonSchema: schema },
          { ...seek, parametersJsonSchema: strictSchema },
        ],
      },
    ],
  ],
  [
    'ollama',
    [
      { type: 'function', function: { ...find, parameters: schema } },
      { type: 'function', function: { ...seek, parameters: strictSchema } },
    ],
  ],
  [
    'cohere',
    [
      { type: 'function', function: { ...find, parameters: schema } },
      { type: 'function', function: { ...seek, parameters: strictSchema } },
    ],
  ],
  [
    'bedrock_converse',
    [
      { toolSpec: { ...find, inputSchema: { json: schema } } },
      { toolSpec: { ...seek, inputSchema: { json: strictSchema } } },
    ],
  ],
])('%s', (api, expected) => {
  expect(toolDeclarations(TOOLS, api)).toEqual(expected)
  expect(toolDeclarations([], api)).toEqual([])
})

test('a derived schema loses its $schema and says that it is an object', () => {
  const parameters = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])
  const [declared] = toolDeclarations([defineTool({ ...base, name: 'either', parameters })], 'anthropic_messages')
  expect(declared).toMatchObject({ input_schema: { type: 'object', anyOf: [{}, {}] } })
  expect(declared?.['input_schema']).not.toHaveProperty('$schema')
})

test('mistakes are told', () => {
  expect(() => toolDeclarations(TOOLS, 'completions' as ToolApi)).toThrow(/takes no tools/)
  expect(() => toolDeclarations(TOOLS, 'constructor' as ToolApi)).toThrow(/takes no tools/)
  expect(() => toolDeclarations([...TOOLS, ...TOOLS], 'responses')).toThrow(/two tools.*find/)
})
