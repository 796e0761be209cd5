import { describe, expect, test } from 'vitest'
import { collectResponses, conflicts, ofType } from './collect.ts'
import { added, completed, created, done, wholeMessage } from './wire.ts'

function interpreter(code: string, extra: Record<string, unknown> = {}): Record<string, unknown> {
  return { id: 'ci_1', type: 'code_interpreter_call', code, ...extra }
}

function patch(operation: unknown): Record<string, unknown> {
  return { id: 'apc_1', type: 'apply_patch_call', call_id: 'c', operation }
}

/** What becomes of an item that is begun, done and restated: name, input, whose it is, findings and the finish reason. */
function readItem(item: Record<string, unknown>): unknown {
  const { chunks, notes } = collectResponses([created(), added(0, item), done(0, item), completed([item])])
  const deltas = ofType(chunks, 'tool-call-delta')
  return [
    deltas[0]?.name,
    deltas.map((chunk) => chunk.argumentsDelta).join(''),
    deltas[0]?.providerExecuted,
    notes.filter((note) => !note.startsWith('missing_id')),
    ofType(chunks, 'finish')[0]?.reason,
  ]
}

describe('hosted and built-in tools', () => {
  test.each<[Record<string, unknown>, readonly unknown[]]>([
    [
      { id: 'ws', type: 'web_search_call', action: { type: 'search', query: 'q' } },
      ['web_search', '{"type":"search","query":"q"}', true, [], 'stop'],
    ],
    [
      { id: 'fs', type: 'file_search_call', queries: ['a', 'b'] },
      ['file_search', '{"queries":["a","b"]}', true, [], 'stop'],
    ],
    [{ id: 'ci', type: 'code_interpreter_call', code: 'print(1)' }, ['code_interpreter', 'print(1)', true, [], 'stop']],
    [{ id: 'ig', type: 'image_generation_call', result: 'aGk=' }, ['image_generation', '', true, [], 'stop']],
    [{ id: 'mc', type: 'mcp_call', name: 'shorten', arguments: '{"u":1}' }, ['shorten', '{"u":1}', true, [], 'stop']],
    [
      { id: 'ts', type: 'tool_search_call', call_id: null, execution: 'server', arguments: { paths: ['a'] } },
      ['tool_search', '{"paths":["a"]}', true, [], 'stop'],
    ],
    [
      { id: 'ts', type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { paths: ['a'] } },
      ['tool_search', '{"paths":["a"]}', true, ['built_in_call: tool_search_call'], 'tool-calls'],
    ],
    [
      {
        id: 'sh',
        type: 'shell_call',
        call_id: 'c',
        action: { commands: ['ls'] },
        environment: { type: 'container_reference' },
      },
      ['shell', '{"commands":["ls"]}', true, [], 'stop'],
    ],
    [
      { id: 'sh', type: 'shell_call', call_id: 'c', action: { commands: ['ls'] }, environment: { type: 'local' } },
      ['shell', '{"commands":["ls"]}', true, ['built_in_call: shell_call'], 'tool-calls'],
    ],
    [
      { id: 'lsh', type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: ['ls'] } },
      ['local_shell', '{"type":"exec","command":["ls"]}', true, ['built_in_call: local_shell_call'], 'tool-calls'],
    ],
    [
      { id: 'apc', type: 'apply_patch_call', call_id: 'c', operation: { type: 'delete_file', path: 'a' } },
      ['apply_patch', '{"type":"delete_file","path":"a"}', true, ['built_in_call: apply_patch_call'], 'tool-calls'],
    ],
    [
      { id: 'cc', type: 'computer_call', call_id: 'c', action: { type: 'wait' } },
      ['computer', '{"type":"wait"}', true, ['built_in_call: computer_call'], 'tool-calls'],
    ],
    [
      { id: 'mcpr', type: 'mcp_approval_request', name: 'shorten', arguments: '{}' },
      ['shorten', '{}', true, ['built_in_call: mcp_approval_request'], 'tool-calls'],
    ],
    [{ id: 'x', type: 'telepathy_call', arguments: '{"to":"you"}' }, ['telepathy', '{"to":"you"}', true, [], 'stop']],
  ])('%o', (item, expected) => {
    expect(readItem(item)).toEqual(expected)
  })

  test('what a hosted tool restates about itself fails nothing', () => {
    const { chunks, notes } = collectResponses([
      created(),
      added(0, interpreter('')),
      { type: 'response.code_interpreter_call_code.delta', output_index: 0, item_id: 'ci_1', delta: 'a' },
      done(0, interpreter('b', { name: 'python' })),
      completed([interpreter('c', { name: 'other' })]),
    ])
    expect(conflicts(chunks)).toEqual([])
    expect(notes).toEqual(['arguments_rewritten', 'arguments_rewritten'])
  })

  test('a built-in call may be told in more detail by the final response', () => {
    const { chunks, notes } = collectResponses([
      created(),
      done(0, patch({ path: 'a' })),
      completed([patch({ path: 'a', status: 'applied' })]),
    ])
    expect(conflicts(chunks)).toEqual([])
    expect(notes).toEqual(['built_in_call: apply_patch_call'])
  })

  test('items that are no calls are kept whole, in their place', () => {
    const item = { id: 'cmp_1', type: 'compaction', encrypted_content: 'eA==' }
    const { chunks } = collectResponses([
      created(),
      added(0, { ...item, encrypted_content: '' }),
      done(0, item),
      ...wholeMessage(1, ['Hi']),
      completed([item]),
    ])
    expect(chunks.slice(1, 4)).toEqual([
      { type: 'block-start', index: 0, blockType: 'opaque' },
      { type: 'block-end', index: 0, metadata: { item } },
      { type: 'text-delta', index: 1, text: 'Hi' },
    ])
  })
})
