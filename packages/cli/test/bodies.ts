import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** The body of a stream of Chat Completions events; texts are written as they are, objects as JSON. */
export function sse(...events: readonly (string | Readonly<Record<string, unknown>>)[]): string {
  return events.map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`).join('')
}

export function delta(
  content: Readonly<Record<string, unknown>>,
  finishReason: string | null = null,
): Record<string, unknown> {
  return {
    id: 'c1',
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta: content, finish_reason: finishReason }],
  }
}

export function call(index: number, piece: string, id?: string, name?: string): Record<string, unknown> {
  return delta({
    tool_calls: [
      { index, ...(id !== undefined && { id }), function: { ...(name !== undefined && { name }), arguments: piece } },
    ],
  })
}

export const COMPLETED: string = sse(delta({ content: 'Hello' }), delta({}, 'stop'), '[DONE]')
/** A finish reason, and no [DONE]. */
export const DEGRADED: string = sse(delta({ content: 'Hello' }), delta({}, 'stop'))
export const EMPTY: string = sse(delta({ role: 'assistant' }), delta({}, 'stop'), '[DONE]')
export const TRUNCATED: string = sse(delta({ content: 'Hel' }), delta({}, 'length'), '[DONE]')
/** Cut in the middle of a call. */
export const CUT: string = sse(delta({ content: 'Looking it up.' }), call(0, '{"city":"Par', 'call_1', 'get_weather'))
export const IN_BAND_ERROR: string = sse(delta({ content: 'Hi' }), {
  error: { message: 'overloaded', type: 'server_error', code: 'overloaded' },
})
export const WITH_CALL: string = sse(call(0, '{"a":1}', 'call_1', 'add'), delta({}, 'tool_calls'), '[DONE]')

export const HEAD = '{"t":"head","format":"streamfold/recording","v":1}'

/** A recording of one read at 250 ms that ended at 300 ms. */
export function recording(body: string, kind = 'complete', request?: Readonly<Record<string, unknown>>): string {
  const requested = {
    t: 'req',
    at: 0,
    method: 'POST',
    url: 'https://api.example/v1/chat/completions',
    s: JSON.stringify(request),
  }
  const lines = [
    ...(request === undefined ? [] : [requested]),
    { t: 'res', at: 100_000, status: 200, headers: [['content-type', 'text/event-stream']] },
    { t: 'b', at: 250_000, off: 0, s: body },
    { t: 'end', at: 300_000, kind },
  ]
  return `${[HEAD, ...lines.map((line) => JSON.stringify(line))].join('\n')}\n`
}

/** Writes files into a folder that is removed after the tests of the file. */
export function temporaryFolder(): (name: string, content: string | Uint8Array) => string {
  const folder = mkdtempSync(join(tmpdir(), 'streamfold-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return (name, content) => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }
}
