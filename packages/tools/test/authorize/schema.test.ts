import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/define/define-tool.ts'
import { call, check, refusalOf, tool } from './fixtures.ts'

describe('5. schema', () => {
  test('the model gets at most five lines, path: expected', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    const parameters = {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    }
    const input = Object.fromEntries(names.map((name) => [name, 1]))
    const refusal = refusalOf(await check(call('probe', JSON.stringify(input)), { tools: [tool({ parameters })] }))
    expect(refusal).toMatchObject({ code: 'schema_violation', phase: 'validate', at: 'schema' })
    expect(refusal.message.split('\n')).toEqual([
      'probe was not run: its arguments do not fit its schema (2 more not shown).',
      '/a: expected string',
      '/b: expected string',
      '/c: expected string',
      '/d: expected string',
      '/e: expected string',
    ])
  })

  test('unknown fields are refused', async () => {
    const refusal = refusalOf(await check(call('probe', '{"n":1,"sudo":true}')))
    expect(refusal.message).toContain('/sudo: expected no such field; the fields are id, n')
  })

  test('the evidence names the place and no value', async () => {
    const verdict = await check(call('probe', '{"n":"secret-value"}'))
    expect(JSON.stringify(verdict.evidence)).not.toContain('secret-value')
    expect(verdict.evidence.at(-1)?.detail).toBe('1 issue(s), first at /n')
  })

  test('a validator that throws is a refusal of its own', async () => {
    const parameters = z.object({}).refine(() => {
      throw new RangeError('secret-value')
    })
    const broken = defineTool({ name: 'probe', description: 'd', effect: 'read', parameters, execute: () => 1 })
    const verdict = await check(call('probe', '{}'), { tools: [broken] })
    expect(refusalOf(verdict)).toMatchObject({ code: 'check_failed', phase: 'validate', at: 'schema' })
    expect(verdict.evidence.at(-1)?.detail).toBe('the schema threw RangeError')
  })
})
