import { expect, test } from 'vitest'
import { bedrockConverse } from '../../../src/adapters/bedrock-converse/adapter.ts'
import { collectWith } from '../collect-with.ts'
import { createOutput } from '../collect.ts'

const USAGE = {
  metadata: { usage: { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 3 }, metrics: { latencyMs: 4 } },
}

const delta = (index: number, content: object): object => ({
  contentBlockDelta: { contentBlockIndex: index, delta: content },
})

test('the chunks of a message', () => {
  const { chunks, notes, skipped, machine } = collectWith(bedrockConverse(), [
    { messageStart: { role: 'assistant' } },
    delta(0, { reasoningContent: { text: 'hm' } }),
    delta(0, { reasoningContent: { signature: 's' } }),
    { contentBlockStop: { contentBlockIndex: 0 } },
    delta(1, { text: 'a' }),
    { contentBlockStop: { contentBlockIndex: 1 } },
    { contentBlockStart: { contentBlockIndex: 2, start: { toolUse: { toolUseId: 'c', name: 'f' } } } },
    delta(2, { toolUse: { input: '{}' } }),
    { contentBlockStop: { contentBlockIndex: 2 } },
    { messageStop: { stopReason: 'tool_use', additionalModelResponseFields: { x: 1 } } },
    USAGE,
  ])
  expect(chunks).toEqual([
    { type: 'start' },
    { type: 'reasoning-delta', index: 0, text: 'hm' },
    { type: 'block-end', index: 0, metadata: { signature: 's' } },
    { type: 'text-delta', index: 1, text: 'a' },
    { type: 'block-end', index: 1 },
    { type: 'tool-call-delta', index: 2, id: 'c', providerCallId: 'c', name: 'f', argumentsDelta: '' },
    { type: 'tool-call-delta', index: 2, id: 'c', argumentsDelta: '{}' },
    { type: 'block-end', index: 2 },
    { type: 'metadata', choice: 0, replace: { additionalModelResponseFields: { x: 1 } } },
    { type: 'usage', usage: { inputTokens: 1, outputTokens: 2, cachedInputTokens: 3, raw: USAGE.metadata.usage } },
    { type: 'metadata', replace: { metrics: { latencyMs: 4 } } },
    { type: 'finish', reason: 'tool-calls', raw: 'tool_use' },
  ])
  expect([notes, skipped, machine.ended]).toEqual([[], [], true])
})

test('the stop is awaited with its metadata, and is the end without it', () => {
  const machine = bedrockConverse().open({ request: {}, limits: {} as never, idSeed: '' })
  const { out } = createOutput()
  machine.push({ data: '{"messageStop":{"stopReason":"end_turn"}}' }, out)
  expect([machine.finished, machine.ended]).toEqual([true, false])
  machine.end(out)
  expect(machine.ended).toBe(true)
})

test('an image and a delta that is not known are kept in their place', () => {
  const { chunks, notes } = collectWith(bedrockConverse(), [
    { contentBlockStart: { contentBlockIndex: 0, start: { image: { format: 'png' } } } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { image: { bytes: 'AA==' } } } },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { contentBlockDelta: { contentBlockIndex: 1, delta: { hologram: 1 } } },
    { messageStop: { stopReason: 'end_turn' } },
  ])
  expect(chunks.filter(({ type }) => type === 'block-end')).toEqual([
    { type: 'block-end', index: 0, metadata: { image: { format: 'png' }, deltas: [{ image: { bytes: 'AA==' } }] } },
    { type: 'block-end', index: 1, metadata: { deltas: [{ hologram: 1 }] } },
  ])
  expect(notes).toEqual(['unexpected_field: a delta of kind "hologram"'])
})

test('after an error only usage is read', () => {
  const { machine } = collectWith(bedrockConverse(), [])
  const { out } = createOutput()
  machine.readUsageOnly({ data: JSON.stringify(USAGE) }, out)
  machine.readUsageOnly({ data: '{"messageStop":{"stopReason":"x"}}' }, out)
  expect(out.chunks.map(({ type }) => type)).toEqual(['usage'])
})
