import { describe, expect, test } from 'vitest'
import { adapterFor, APIS, chatCompletions } from '../../src/adapters/index.ts'
import type { AdapterContext, AdapterMachine, StreamAdapter } from '../../src/adapters/index.ts'
import type { StreamChunk } from '../../src/chunk/chunk.ts'
import { createStreamEngine } from '../../src/engine/index.ts'

const encoder = new TextEncoder()

/** An adapter under a name of its own that tells what it was opened with. */
function watched(api: string, from: StreamAdapter): { adapter: StreamAdapter; opened: AdapterContext[] } {
  const opened: AdapterContext[] = []
  const open = (context: AdapterContext): AdapterMachine => {
    opened.push(context)
    return from.open(context)
  }
  return { adapter: { ...from, api, open }, opened }
}

describe('the engine that is kept', () => {
  const sampled = APIS.map((api) => adapterFor(api)).filter(({ sample }) => sample !== undefined)

  test('there are samples', () => {
    expect(sampled.map(({ api }) => api)).toEqual(
      expect.arrayContaining(['chat_completions', 'responses', 'anthropic_messages', 'gemini']),
    )
  })

  test.each(sampled.map((adapter) => ({ api: adapter.api, adapter })))(
    '$api: a sample is read without a finding, and has a text in two deltas and a call',
    ({ adapter }) => {
      const engine = createStreamEngine({ adapter })
      const events = adapter.sample!.flatMap((data) => engine.push(encoder.encode(`data: ${data}\n\n`)))
      expect(events.filter(({ type }) => type === 'text_delta')).toMatchObject([{ text: 'a' }, { text: 'b' }])
      expect(engine.calls()).toMatchObject([{ name: 'a' }])
      expect(engine.report().diagnostics).toStrictEqual([])
      expect(engine.ended).toBe(false)
    },
  )

  test('has none of the options of the engine that was asked for, and is made once', () => {
    const chunks: StreamChunk[] = []
    const { adapter, opened } = watched('kept-engine-test', chatCompletions())
    const options = {
      adapter,
      onChunk: (chunk: StreamChunk) => chunks.push(chunk),
      idSeed: 'mine',
      limits: { choices: 3 },
    }
    createStreamEngine(options)
    createStreamEngine(options)
    expect(chunks).toStrictEqual([])
    expect(opened.map(({ idSeed, limits }) => [idSeed, limits.choices])).toStrictEqual([
      ['mine/1', 3],
      ['/1', 128],
      ['mine/1', 3],
    ])
  })

  test('is not made for an adapter without a sample', () => {
    const { sample: _, ...plain } = chatCompletions()
    const { adapter, opened } = watched('kept-engine-test-plain', plain)
    createStreamEngine({ adapter })
    expect(opened).toHaveLength(1)
  })
})
