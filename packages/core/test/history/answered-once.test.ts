import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HISTORY_APIS } from '../../src/history/index.ts'
import type { StreamSnapshot } from '../../src/accumulate/snapshot.ts'
import type { ToolCallBlock } from '../../src/chunk/content-block.ts'
import { play } from '../golden/play.ts'
import { readSamples } from '../golden/sample.ts'
import { emptyMessages, idsIn } from './lawful.ts'
import { answer, call, ended, prose, written } from './snapshot.ts'

/** Kept, so that a failure can be had again; fast-check prints it with the input. */
const SEED = 20_261_130

const status = fc.constantFrom('done' as const, 'done' as const, 'interrupted' as const)
const metadata = fc.constantFrom(
  undefined,
  { signature: 's' },
  { type: 'thinking', signature: 's' },
  { thoughtSignature: 's' },
  { item: { id: 'i_1', type: 'reasoning' } },
  { item: { id: 'i_2', type: 'message', role: 'assistant' } },
  { type: 'web_search_tool_result', tool_use_id: 'c0', content: [] },
  { type: 'server_tool_use' },
  { part: 'executableCode' },
  { caller: { tool_id: 'c0' } },
)
const proseBlock = fc
  .record({
    type: fc.constantFrom('text' as const, 'reasoning' as const, 'refusal' as const, 'opaque' as const),
    text: fc.constantFrom('', ' ', 'a'),
    status,
    metadata,
  })
  .map(({ type, text, status: state, metadata: kept }) => {
    // No adapter makes thinking opaque.
    const fields = type === 'opaque' && kept?.type === 'thinking' ? { type: 'odd' } : kept
    return { ...prose(type, text, fields), status: state }
  })
const callBlock = fc
  .record({
    name: fc.constantFrom('get', 'put', undefined),
    json: fc.constantFrom('{}', '{"n":1}', '', '{"n":', '[1]', 'free'),
    status,
    metadata,
    providerExecuted: fc.boolean(),
    freeText: fc.boolean(),
  })
  .map(({ name, json, status: state, metadata: kept, providerExecuted, freeText }) => {
    const { name: _, ...block } = call('', 'x', json, {
      status: state,
      ...(kept !== undefined && { metadata: kept }),
      ...(providerExecuted && { providerExecuted }),
      ...(freeText && { freeText }),
    })
    return { ...block, ...(name !== undefined && { name }) }
  })
const snapshots = fc
  .tuple(
    fc.array(fc.oneof(proseBlock, callBlock), { maxLength: 8 }),
    fc.constantFrom('tool-calls', 'pause', 'length', null),
  )
  .map(([blocks, reason]) =>
    ended(
      blocks.map((block, i) =>
        block.type === 'tool-call' ? { ...block, callId: `c${i}`, providerCallId: `c${i}` } : block,
      ),
      reason,
    ),
  )

function ownCalls({ choices }: StreamSnapshot, choice: number): readonly ToolCallBlock[] {
  const blocks = choices.find(({ index }) => index === choice)?.blocks ?? []
  return blocks.flatMap((block) => (block.type === 'tool-call' && block.providerExecuted !== true ? [block] : []))
}

/** What is wrong with the messages of this turn, whichever API it came from and whichever it goes to. */
function wrongIn(snapshot: StreamSnapshot, answers: (callId: string) => boolean, choice = 0): readonly string[] {
  const results = ownCalls(snapshot, choice)
    .map(({ callId }) => answer(callId))
    .filter(({ callId }) => answers(callId))
  return HISTORY_APIS.flatMap((api) =>
    HISTORY_APIS.flatMap((from) => {
      const { messages } = written(snapshot, results, api, { from, choice })
      const { calls, results: answered } = idsIn(messages, api)
      const laws: Readonly<Record<string, boolean>> = {
        'every call has its result, in order, and nothing else has one': isDeepStrictEqual(answered, calls),
        'ids are unique': api === 'gemini' || new Set(calls).size === calls.length,
        'no call is sent that was not answered': calls.length <= results.length,
        'no message says nothing': emptyMessages(messages, api).length === 0,
        'it can be written as JSON': isDeepStrictEqual(JSON.parse(JSON.stringify(messages)), messages),
      }
      return Object.keys(laws).flatMap((law) => (laws[law] === true ? [] : [`${from} to ${api}: ${law}`]))
    }),
  )
}

test('F206: every call id in a message of the model has exactly one result, whatever was answered', () => {
  fc.assert(
    fc.property(snapshots, fc.nat({ max: 255 }), (snapshot, mask) => {
      expect(wrongIn(snapshot, (callId) => ((mask >> Number(callId.slice(1))) & 1) === 1)).toEqual([])
    }),
    { seed: SEED, numRuns: 300 },
  )
})

describe('F206: the turns of the golden samples', () => {
  test.each(readSamples())('$name', (sample) => {
    const { snapshot } = play(sample)
    const wrong = snapshot.choices.flatMap(({ index }) => [
      ...wrongIn(snapshot, () => true, index),
      ...wrongIn(snapshot, () => false, index),
    ])
    expect(wrong).toEqual([])
  })
})
