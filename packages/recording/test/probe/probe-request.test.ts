import { describe, expect, test } from 'vitest'
import { PROBE_KINDS, PROBE_TOOL, PROBED_APIS, probeRequest } from '../../src/probe/probe-request.ts'
import type { ProbedApi } from '../../src/probe/probe-request.ts'

const PATHS: Readonly<Record<ProbedApi, RegExp>> = {
  chat_completions: /^\/chat\/completions$/,
  responses: /^\/responses$/,
  anthropic_messages: /^\/messages$/,
  gemini: /^\/models\/a%2Fb:(?:streamGenerateContent\?alt=sse|generateContent)$/,
  ollama: /^\/api\/chat$/,
}

describe('requests of a probe', () => {
  test.each(PROBED_APIS.flatMap((api) => PROBE_KINDS.map((kind) => ({ api, kind }))))('$api $kind', ({ api, kind }) => {
    const { path, headers, body } = probeRequest(api, kind, { model: 'a/b', apiKey: 'the-key' })
    expect(path).toMatch(PATHS[api])
    expect(headers['content-type']).toBe('application/json')
    expect(Object.values(headers).join(' ')).toContain('the-key')
    // The key is in a header, never in the address or the body, which are recorded.
    expect(path + body).not.toContain('the-key')
    expect(body.includes(PROBE_TOOL)).toBe(kind === 'tool-stream' || kind === 'parallel-stream')
    const streams = api === 'gemini' ? path.includes('stream') : (JSON.parse(body) as { stream: boolean }).stream
    expect(streams).toBe(kind !== 'text')
  })

  test('without a key there is no header for one', () => {
    for (const api of PROBED_APIS) {
      const { headers } = probeRequest(api, 'text', { model: 'm' })
      expect(Object.keys(headers).filter((name) => /key|authorization/.test(name))).toEqual([])
    }
  })
})
