import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { requestFactsOf } from 'streamfold/recording'
import { BASELINE_APIS, baselineRequest } from '../../src/record/baseline.ts'
import { recordBaseline } from '../../src/record/record-baseline.ts'
import { folderSinks } from '../../src/record/recording-sink.ts'
import { bodyOf, recordingsIn, temporaryFolder, upstream } from './upstream.ts'

const root = temporaryFolder()

test('every baseline asks for the one pure tool, with few tokens, and has no secret in its body', () => {
  expect(BASELINE_APIS).toEqual(['chat_completions', 'responses', 'anthropic_messages', 'gemini', 'ollama'])
  for (const api of BASELINE_APIS) {
    const { body, headers, path } = baselineRequest(api, { model: 'm/1', apiKey: 'the-key-itself' })
    expect(body).toContain('"add"')
    expect(body).toContain('200')
    expect(body).not.toContain('the-key')
    expect(path).not.toContain('the-key')
    expect(Object.values(headers).join()).toContain('the-key-itself')
    expect(Object.keys(baselineRequest(api, { model: 'm' }).headers)).not.toContain('authorization')
  }
  expect(() => baselineRequest('soap', { model: 'm' })).toThrow(
    /no baseline request for "soap"; there is one for chat_completions/,
  )
})

test('the answer of an endpoint, with the request that brought it', async () => {
  let authorization: string | undefined
  const to = await upstream((request, response) => {
    ;({ authorization } = request.headers)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: [DONE]\n\n')
  })
  const folder = mkdtempSync(join(root, 'case-'))
  const exchange = await recordBaseline({
    to: `${to}/v1`,
    by: 'test',
    sink: folderSinks(folder),
    model: 'm',
    apiKey: 'the-key-itself',
  })
  expect(authorization).toBe('Bearer the-key-itself')
  expect(exchange).toMatchObject({ status: 200, kind: 'complete', bytes: 14 })
  const [recording] = recordingsIn(folder)
  expect(recording!.head).toMatchObject({
    api: 'chat_completions',
    other: { labels: { baseline: 'chat_completions' } },
  })
  expect(recording!.request!.url).toBe(`${to}/v1/chat/completions`)
  expect(requestFactsOf(recording!.request)).toEqual({ maxOutputTokens: 200, tools: ['add'], usage: true })
  expect(bodyOf(recording!)).toBe('data: [DONE]\n\n')
})

test('an endpoint that is not there', async () => {
  const sink = folderSinks(mkdtempSync(join(root, 'case-')))
  expect(await recordBaseline({ to: 'http://127.0.0.1:9', by: 'test', sink, model: 'm' })).toMatchObject({
    kind: 'error',
    code: 'ECONNREFUSED',
  })
})
