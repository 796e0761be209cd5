import { expect, test } from 'vitest'
import { callsOf, run } from './run.ts'
import { DONE, finish, frag, fragment, sse, tools } from './wire.ts'

test('F179 — a thought signature on the first fragment of a call is kept, to be echoed', () => {
  const extra_content = { google: { thought_signature: 'c2ln' } }
  const result = run(
    sse(
      tools({ ...fragment(0, 'c1', 'f', '{"a"'), extra_content }),
      frag(0, undefined, undefined, ':1}'),
      frag(1, 'c2', 'g', '{}'),
      finish('tool_calls'),
      DONE,
    ),
  )
  expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'g({}) ready'])
  const batch = result.events.find((event) => event.type === 'tool_batch_ready')
  expect(batch).toMatchObject({ calls: [{ callId: 'c1', metadata: { extra_content } }, { callId: 'c2' }] })
  expect(result.snapshot.choices[0]!.blocks).toMatchObject([{ metadata: { extra_content } }, { callId: 'c2' }])
  expect(result.snapshot.choices[0]!.blocks[1]).not.toHaveProperty('metadata')
})
