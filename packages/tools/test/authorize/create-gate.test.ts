import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createGate } from '../../src/authorize/create-gate.ts'
import type { PolicyRequest } from '../../src/authorize/policy.ts'
import { defineTool } from '../../src/define/define-tool.ts'
import { sha256Hex } from '../../src/validate/sha256.ts'
import { ALLOW_ALL, call, check, CONTEXT, hook, tool, withHooks } from './fixtures.ts'

describe('a call that passes', () => {
  test('has all checks as evidence, in order', async () => {
    const verdict = await check(call('probe', '{"n":1}'))
    expect(verdict).toMatchObject({ kind: 'pass', args: { n: 1 }, policyRevision: 'p1' })
    expect(verdict.evidence.map((one) => [one.check, one.outcome])).toEqual([
      ['allow_list', 'pass'],
      ['call_id', 'pass'],
      ['size', 'pass'],
      ['strict_json', 'pass'],
      ['schema', 'pass'],
      ['resources', 'not_applicable'],
      ['permission', 'pass'],
      ['approval', 'not_applicable'],
    ])
  })

  test('the hash is that of the input in its canonical form, however it was written', async () => {
    const one = await check(call('probe', '{"n":1.0,"id":"a"}'))
    const other = await check(call('probe', ' { "id" : "\\u0061", "n":1e0 } '))
    expect(one).toMatchObject({ inputJson: '{"id":"a","n":1}', argumentsHash: sha256Hex('{"id":"a","n":1}') })
    expect(other).toMatchObject({ inputJson: '{"id":"a","n":1}' })
  })

  test('the tool gets what validation made; hashed and stored is what the model sent', async () => {
    const seen: PolicyRequest[] = []
    const converts = defineTool({
      name: 'probe',
      description: 'd',
      effect: 'read',
      parameters: z.object({ n: z.string().transform(Number), k: z.number().default(2) }),
      operationId: (args) => ({ b: args.n, a: args.k }),
      execute: () => 1,
    })
    const policy = withHooks(
      hook((request) => {
        seen.push(request)
        return { decision: 'allow' }
      }),
    )
    expect(await check(call('probe', '{"n":"7"}'), { tools: [converts], policy })).toMatchObject({
      kind: 'pass',
      args: { n: 7, k: 2 },
      input: { n: '7' },
      inputJson: '{"n":"7"}',
      operationId: '{"a":2,"b":7}',
    })
    expect(seen).toMatchObject([{ args: { n: 7, k: 2 }, input: { n: '7' }, changed: true }])
  })

  test('empty arguments are {}', async () => {
    expect(await check(call('probe', ' '))).toMatchObject({ kind: 'pass', inputJson: '{}' })
  })

  test('the input of a custom call is text, and is not parsed', async () => {
    const custom = tool({
      parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
    })
    const text = '{"id":"a","id":"b"}'
    const ready = call('probe', text, { parsedArguments: { input: text } })
    expect(await check(ready, { tools: [custom] })).toMatchObject({ kind: 'pass', args: { input: text } })
  })
})

describe('recheck', () => {
  const stored = { callId: 'call_1', name: 'probe', inputJson: '{"id":"a"}' }

  test('gives the same verdict over what was stored, without asking whether the id is new', async () => {
    const gate = createGate({ tools: [tool()], policy: ALLOW_ALL })
    const context = { ...CONTEXT, usedCallIds: new Set(['call_1']) }
    const first = await gate.check(call('probe', '{"id":"a"}'), CONTEXT)
    const again = await gate.recheck(stored, context)
    expect(again).toMatchObject({ kind: 'pass', argumentsHash: (first as { argumentsHash: string }).argumentsHash })
  })

  test('sees what has changed in between', async () => {
    let allowed = true
    const owner = tool({ resources: () => [{ kind: 'id', type: 't', id: 'i', allowed: () => allowed }] })
    const gate = createGate({ tools: [owner], policy: ALLOW_ALL })
    expect(await gate.recheck(stored, CONTEXT)).toMatchObject({ kind: 'pass' })
    allowed = false
    expect(await gate.recheck(stored, CONTEXT)).toMatchObject({ kind: 'refuse', code: 'resource_denied' })
    const gone = createGate({ tools: [], policy: ALLOW_ALL })
    expect(await gone.recheck(stored, CONTEXT)).toMatchObject({ kind: 'refuse', code: 'unknown_tool' })
  })
})

test('every refusal code of the gate is described in docs/faults.md', () => {
  const page = readFileSync(new URL('../../../../docs/faults.md', import.meta.url), 'utf8')
  for (const code of [
    'unknown_tool',
    'tool_not_allowed',
    'missing_call_id',
    'duplicate_call',
    'resource_denied',
    'check_failed',
  ]) {
    expect(page).toContain(`### ${code}\n`)
  }
})
