import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LineToWrite } from 'streamfold/recording'
import { toHar } from '../../src/export/har.ts'
import { toHtml } from '../../src/export/html.ts'
import { toTestSource } from '../../src/export/test-source.ts'
import { formatRecordings, parseRecordings } from '../../src/file/recording-file.ts'
import { importRecordings } from '../../src/import/import-recordings.ts'
import { BODY, sample, sampleText } from './sample.ts'

const SEED = 20261130

const roundTrip = async (text: string): Promise<string> =>
  formatRecordings((await importRecordings(Buffer.from(text))).recordings)

interface Har {
  readonly log: {
    readonly entries: readonly (Readonly<Record<string, unknown>> & {
      readonly response: { readonly content: unknown }
    })[]
  }
}

describe('HAR', () => {
  test('what others read', () => {
    const [entry] = (JSON.parse(toHar([sample()])) as Har).log.entries
    expect(entry).toMatchObject({
      startedDateTime: '2026-11-30T15:02:55.000Z',
      time: 200,
      request: {
        method: 'POST',
        url: 'https://a.example/v1/chat/completions?a=1',
        queryString: [{ name: 'a', value: '1' }],
        postData: { text: '{"n":1}' },
      },
      response: {
        status: 200,
        statusText: 'OK',
        content: { size: Buffer.byteLength(BODY), mimeType: 'text/event-stream', text: BODY },
      },
      timings: { send: 0, wait: 100, receive: 100 },
    })
    expect(entry!['_eventSourceMessages']).toHaveLength(4)
    expect((entry!['_eventSourceMessages'] as readonly unknown[])[3]).toEqual({
      time: Date.parse('2026-11-30T15:02:55.180Z') / 1000,
      eventName: 'message',
      eventId: '',
      data: '[DONE]',
    })
  })

  test('comes back line for line', async () => {
    expect(await roundTrip(toHar([sample(), sample()]))).toBe(sampleText() + sampleText())
  })

  test('without our lines, the reads and the response come back', async () => {
    const har = JSON.parse(toHar([sample()])) as { log: { entries: Record<string, unknown>[] } }
    delete har.log.entries[0]!['_streamfold']
    const [back] = parseRecordings(Buffer.from(await roundTrip(JSON.stringify(har))))
    const before = sample()
    expect(back!.reads.map(({ atUs, bytes }) => [atUs, [...bytes]])).toEqual(
      before.reads.map(({ atUs, bytes }) => [atUs, [...bytes]]),
    )
    expect(back!.response!.headers).toEqual(before.response!.headers)
    expect(back!.request).toMatchObject({ url: before.request!.url, body: before.request!.body })
  })

  test('any bytes, any cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 6 }), async (reads) => {
        const lines: readonly LineToWrite[] = [
          { t: 'head' },
          { t: 'res', atUs: 1, status: 200, headers: [['content-type', 'text/event-stream']] },
          ...reads.map((bytes, at) => ({ t: 'b' as const, atUs: at + 1, bytes })),
          { t: 'end', atUs: 99, kind: 'cut' },
        ]
        const text = formatRecordings([{ lines }])
        expect(await roundTrip(toHar(parseRecordings(Buffer.from(text))))).toBe(
          formatRecordings(parseRecordings(Buffer.from(text))),
        )
      }),
      { seed: SEED, numRuns: 200 },
    )
  })
})

describe('one page', () => {
  const html = toHtml([sample()])

  test('shows outcome, call, events and what is not there', () => {
    expect(html).toContain('<h1>completed</h1>')
    expect(html).toContain('<td>add</td><td>complete</td>')
    expect(html).toContain('{&quot;a&quot;:&quot;it&#39;s&quot;}')
    expect(toHtml(parseRecordings(Buffer.from(sampleText().split('\n').slice(0, 4).join('\n'))))).toContain(
      'none: the recorder stopped first',
    )
  })

  test('whatever came over the wire is text, and nothing is loaded or run', () => {
    const outside = html.slice(0, html.indexOf('<script type="application/x-ndjson"'))
    expect(outside).not.toMatch(/<script|<b>|\son\w+=|src=|href=/)
    expect(html).toContain("default-src 'none'; style-src 'unsafe-inline'")
    // The only end of a script element is ours.
    expect(html.match(/<\/script/g)).toHaveLength(1)
    expect(html.match(/<!--/g)).toBeNull()
  })

  test('carries the recording', async () => {
    expect(await roundTrip(html)).toBe(sampleText())
    await expect(importRecordings(Buffer.from('<!doctype html>\n<html data-streamfold>'))).rejects.toThrow(
      /holds no recording/,
    )
  })
})

describe('a test file', () => {
  test('is the one beside this, which runs with the others', () => {
    const file = new URL('exported.test.ts', import.meta.url)
    expect(toTestSource(sample())).toBe(readFileSync(file, 'utf8'))
  })

  test('expects what the stream was, also when it was bad', () => {
    const cut = parseRecordings(Buffer.from(sampleText().split('\n').slice(0, 4).join('\n')))[0]!
    expect(toTestSource(cut, { name: '100 % cut' })).toMatch(
      /'100 %% cut, in reads[^]*toBe\('incomplete'\)[^]*toBe\('incomplete_stream'\)/,
    )
  })
})
