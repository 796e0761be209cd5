import { describe, expect, test } from 'vitest'
import { createStreamAccumulator } from '../../src/accumulate/accumulator.ts'
import type { StreamAccumulator } from '../../src/accumulate/accumulator.ts'
import type { StreamChunk } from '../../src/chunk/chunk.ts'

function filled(...chunks: readonly StreamChunk[]): StreamAccumulator {
  const accumulator = createStreamAccumulator()
  for (const chunk of chunks) accumulator.push(chunk)
  return accumulator
}

describe('an accumulator', () => {
  test('begins with nothing', () => {
    const accumulator = createStreamAccumulator()
    expect(accumulator.snapshot()).toEqual({ version: 0, choices: [], ended: false })
    expect(accumulator.text()).toBe('')
    expect(accumulator.reasoning(2)).toBe('')
    expect(accumulator.refusal()).toBe('')
    expect(accumulator.toolCalls()).toEqual([])
  })

  test('groups by choice and block, not by arrival', () => {
    const accumulator = filled(
      { type: 'text-delta', index: 2, text: 'wor' },
      { type: 'reasoning-delta', index: 0, text: 'think' },
      { type: 'text-delta', choice: 1, index: 0, text: 'other' },
      { type: 'text-delta', index: 2, text: 'ld' },
      { type: 'text-delta', index: 1, text: 'hello ' },
      { type: 'refusal-delta', index: 3, text: 'no' },
      { type: 'reasoning-delta', index: 0, text: 'ing' },
    )
    expect(accumulator.snapshot().choices).toEqual([
      {
        index: 0,
        blocks: [
          { type: 'reasoning', index: 0, text: 'thinking', status: 'streaming' },
          { type: 'text', index: 1, text: 'hello ', status: 'streaming' },
          { type: 'text', index: 2, text: 'world', status: 'streaming' },
          { type: 'refusal', index: 3, text: 'no', status: 'streaming' },
        ],
      },
      { index: 1, blocks: [{ type: 'text', index: 0, text: 'other', status: 'streaming' }] },
    ])
    expect(accumulator.text()).toBe('hello world')
    expect(accumulator.text(1)).toBe('other')
    expect(accumulator.reasoning()).toBe('thinking')
    expect(accumulator.refusal()).toBe('no')
  })

  test('shows a call with everything its deltas said', () => {
    const accumulator = filled(
      { type: 'tool-call-delta', index: 0, id: 'c', argumentsDelta: '{"a"', metadata: { x: 1 } },
      {
        type: 'tool-call-delta',
        index: 0,
        id: 'c',
        name: 'f',
        argumentsDelta: ':1}',
        providerCallId: 'p',
        providerExecuted: true,
        metadata: { y: 2 },
      },
    )
    const call = {
      type: 'tool-call',
      index: 0,
      callId: 'c',
      providerCallId: 'p',
      name: 'f',
      argumentsText: '{"a":1}',
      status: 'streaming',
      providerExecuted: true,
      metadata: { x: 1, y: 2 },
    }
    expect(accumulator.toolCalls()).toEqual([call])
    expect(accumulator.snapshot().choices[0]!.blocks).toEqual([call])
  })

  test('keeps the provider fields that came with the end of a block, and views given out before stay as they were', () => {
    const accumulator = filled(
      { type: 'reasoning-delta', index: 0, text: 'hm' },
      { type: 'block-end', index: 0, metadata: { signature: 's1' } },
      { type: 'block-start', index: 1, blockType: 'opaque', metadata: { type: 'result' } },
      { type: 'block-end', index: 1, metadata: { data: 'whole' } },
      { type: 'tool-call-delta', index: 2, id: 'c', name: 'f', argumentsDelta: '{}', metadata: { a: 1 } },
    )
    const before = accumulator.snapshot()
    accumulator.push({ type: 'block-end', index: 0, metadata: { signature: 's2', more: true } })
    accumulator.push({ type: 'block-end', index: 2, metadata: { b: 2 } })
    accumulator.push({ type: 'block-start', index: 0, blockType: 'reasoning', metadata: { begun: 1 } })
    accumulator.push({
      type: 'block-end',
      index: 1,
      block: { type: 'opaque', index: 1, text: '', status: 'done', metadata: { item: 'i' } },
      metadata: { data: 'newer' },
    })
    expect(before.choices[0]!.blocks).toEqual([
      { type: 'reasoning', index: 0, text: 'hm', status: 'done', metadata: { signature: 's1' } },
      { type: 'opaque', index: 1, text: '', status: 'done', metadata: { type: 'result', data: 'whole' } },
      {
        type: 'tool-call',
        index: 2,
        callId: 'c',
        name: 'f',
        argumentsText: '{}',
        status: 'streaming',
        metadata: { a: 1 },
      },
    ])
    expect(accumulator.snapshot().choices[0]!.blocks).toMatchObject([
      { text: 'hm', status: 'done', metadata: { signature: 's2', more: true, begun: 1 } },
      { text: '', metadata: { type: 'result', item: 'i', data: 'newer' } },
      { status: 'done', metadata: { a: 1, b: 2 } },
    ])
  })

  test('keeps the first id and model, the latest usage, and how each choice finished', () => {
    const accumulator = filled(
      { type: 'start', model: 'm' },
      { type: 'start', id: 'r', model: 'other' },
      { type: 'usage', usage: { outputTokens: 1 } },
      { type: 'usage', usage: { outputTokens: 5 } },
      { type: 'finish', reason: 'stop', raw: 'stop' },
      { type: 'finish', choice: 1, reason: 'length' },
    )
    expect(accumulator.snapshot()).toMatchObject({
      id: 'r',
      model: 'm',
      usage: { outputTokens: 5 },
      choices: [
        { index: 0, finish: { reason: 'stop', raw: 'stop' } },
        { index: 1, finish: { reason: 'length', raw: null } },
      ],
    })
  })

  test.each<{ name: string; chunk: StreamChunk }>([
    {
      name: 'an error',
      chunk: { type: 'error', error: { code: 'upstream_error', phase: 'delta', message: 'x', retryable: 'no' } },
    },
    { name: 'the end of an unknown block', chunk: { type: 'block-end', index: 9 } },
    { name: 'the end of a block of an unknown choice', chunk: { type: 'block-end', choice: 7, index: 0 } },
    { name: 'the start of a known block', chunk: { type: 'block-start', index: 0, blockType: 'reasoning' } },
    {
      name: 'the start of a call, which has no id yet',
      chunk: { type: 'block-start', choice: 7, index: 9, blockType: 'tool-call' },
    },
    { name: 'text for a call', chunk: { type: 'text-delta', index: 1, text: 'x' } },
    { name: 'a call delta for a text', chunk: { type: 'tool-call-delta', index: 0, id: 'x', argumentsDelta: '{}' } },
    { name: 'a start without news', chunk: { type: 'start', id: 'other', model: 'other' } },
  ])('$name fits nothing and changes nothing', ({ chunk }) => {
    const accumulator = filled(
      { type: 'start', id: 'r', model: 'm' },
      { type: 'text-delta', index: 0, text: 'a' },
      { type: 'tool-call-delta', index: 1, id: 'c', argumentsDelta: '' },
    )
    const before = accumulator.snapshot()
    accumulator.push(chunk)
    expect(accumulator.snapshot()).toBe(before)
  })
})

describe('the end of a block', () => {
  test('marks it done, and restated text overrides what was streamed', () => {
    const accumulator = filled(
      { type: 'text-delta', index: 0, text: 'helo' },
      { type: 'text-delta', index: 1, text: 'kept' },
      { type: 'block-end', index: 0, block: { type: 'text', index: 0, text: 'hello', status: 'done' } },
      { type: 'block-end', index: 1 },
    )
    expect(accumulator.snapshot().choices[0]!.blocks).toEqual([
      { type: 'text', index: 0, text: 'hello', status: 'done' },
      { type: 'text', index: 1, text: 'kept', status: 'done' },
    ])
  })

  test('text behind it is merged, and the block is open again', () => {
    const accumulator = filled(
      { type: 'text-delta', index: 0, text: 'a' },
      { type: 'block-end', index: 0 },
      { type: 'text-delta', index: 0, text: 'b' },
    )
    expect(accumulator.snapshot().choices[0]!.blocks).toEqual([
      { type: 'text', index: 0, text: 'ab', status: 'streaming' },
    ])
  })

  test('never overrides the arguments of a call, but stands in for all that was not streamed', () => {
    const restated = {
      type: 'tool-call',
      index: 0,
      callId: 'c',
      providerCallId: 'p',
      name: 'f',
      argumentsText: '{"a":2}',
      status: 'done',
      providerExecuted: true,
      metadata: { x: 1 },
    } as const
    const streamed = filled(
      { type: 'tool-call-delta', index: 0, id: 'c', name: 'g', argumentsDelta: '{"a":1}' },
      { type: 'block-end', index: 0, block: restated },
    )
    expect(streamed.toolCalls()).toEqual([{ ...restated, name: 'g', argumentsText: '{"a":1}' }])
    expect(filled({ type: 'block-end', index: 0, block: restated }).toolCalls()).toEqual([restated])
  })

  test('alone shows a text that was never streamed', () => {
    const accumulator = filled({
      type: 'block-end',
      index: 0,
      block: { type: 'refusal', index: 0, text: 'no', status: 'done' },
    })
    expect(accumulator.refusal()).toBe('no')
  })

  test('a block may be opened before its first delta', () => {
    expect(filled({ type: 'block-start', index: 0, blockType: 'reasoning' }).snapshot().choices[0]!.blocks).toEqual([
      { type: 'reasoning', index: 0, text: '', status: 'streaming' },
    ])
  })
})

describe('close', () => {
  test('marks what was still open as interrupted, and nothing else', () => {
    const accumulator = filled(
      { type: 'text-delta', index: 0, text: 'a' },
      { type: 'block-end', index: 0 },
      { type: 'text-delta', index: 1, text: 'b' },
      { type: 'tool-call-delta', choice: 2, index: 0, id: 'c', argumentsDelta: '{' },
    )
    const before = accumulator.snapshot()
    accumulator.close()
    const after = accumulator.snapshot()
    expect(after.ended).toBe(true)
    expect(after.version).toBeGreaterThan(before.version)
    expect(after.choices.map(({ blocks }) => blocks.map((block) => block.status))).toEqual([
      ['done', 'interrupted'],
      ['interrupted'],
    ])
    expect(after.choices[0]!.blocks[0]).toBe(before.choices[0]!.blocks[0])
  })
})

describe('reset', () => {
  test('forgets everything', () => {
    const accumulator = filled(
      { type: 'start', id: 'r', model: 'm' },
      { type: 'text-delta', index: 0, text: 'a' },
      { type: 'usage', usage: { outputTokens: 1 } },
      { type: 'metadata', replace: { a: 1 } },
    )
    accumulator.close()
    accumulator.reset()
    const { version: _, ...shown } = accumulator.snapshot()
    expect(shown).toEqual({ choices: [], ended: false })
    accumulator.push({ type: 'text-delta', index: 0, text: 'b' })
    expect(accumulator.text()).toBe('b')
  })

  test('never gives a version that an earlier attempt had', () => {
    const accumulator = filled({ type: 'text-delta', index: 0, text: 'first' })
    const { version } = accumulator.snapshot()
    accumulator.reset()
    expect(accumulator.snapshot().version).toBeGreaterThan(version)
    accumulator.push({ type: 'text-delta', index: 0, text: 'second' })
    expect(accumulator.snapshot().version).toBeGreaterThan(version + 1)
  })
})

describe('metadata', () => {
  test('is replaced or appended key by key, for the response and for each choice', () => {
    const { metadata, choices } = filled(
      { type: 'metadata', replace: { a: 1, b: 1 } },
      { type: 'metadata', replace: { b: 2 }, append: { list: [1] } },
      { type: 'metadata', append: { list: [2, 3] } },
      { type: 'metadata', choice: 0, replace: { a: 9 } },
    ).snapshot()
    expect(metadata).toEqual({ a: 1, b: 2, list: [1, 2, 3] })
    expect(choices).toEqual([{ index: 0, blocks: [], metadata: { a: 9 } }])
  })

  test('a list of an older snapshot does not grow, and is the same list each time it is looked at', () => {
    const accumulator = filled({ type: 'metadata', append: { list: [1] } })
    const older = accumulator.snapshot().metadata!
    accumulator.push({ type: 'metadata', append: { list: [2] } })
    expect(accumulator.snapshot().metadata!['list']).toEqual([1, 2])
    expect(older['list']).toEqual([1])
    expect(older['list']).toBe(older['list'])
  })

  test('keys of the wire never reach a prototype', () => {
    const replace = JSON.parse('{"__proto__":{"polluted":1},"constructor":2}') as Record<string, unknown>
    const append = JSON.parse('{"toString":[3]}') as Record<string, unknown[]>
    const metadata = filled({ type: 'metadata', replace, append }).snapshot().metadata!
    expect(Object.keys(metadata)).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.getPrototypeOf(metadata)).toBeNull()
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(JSON.parse(JSON.stringify(metadata))).toEqual(
      JSON.parse('{"__proto__":{"polluted":1},"constructor":2,"toString":[3]}'),
    )
  })
})
