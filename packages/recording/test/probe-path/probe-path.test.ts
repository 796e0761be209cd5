import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { probePath } from '../../src/probe-path/probe-path.ts'
import type { PathDocument } from '../../src/probe-path/path-document.ts'
import { startPathSource } from '../../src/probe-path/path-source.ts'
import type { PathSource } from '../../src/probe-path/path-source.ts'
import type { PathSchedule } from '../../src/probe-path/schedule.ts'
import { perBlock, startHop } from './hop.ts'
import type { Forward } from './hop.ts'
import { findNginx, startNginx } from './nginx.ts'
import type { Nginx } from './nginx.ts'

const SCHEDULE: PathSchedule = { events: 20, intervalMs: 60, sizes: [20, 20, 200, 20, 2000], idleMs: 300 }

function codesOf({ verdicts }: PathDocument): readonly string[] {
  return verdicts.map(({ code }) => code).toSorted()
}

async function judged(schedule: PathSchedule, forward: Forward): Promise<PathDocument> {
  const source = await startPathSource({ schedule })
  const hop = await startHop(source.url, forward)
  try {
    return await probePath({ url: hop.url, source, schedule })
  } finally {
    await Promise.all([hop.close(), source.close()])
  }
}

const passOn: Forward = (answer, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  answer.pipe(response)
}

describe.concurrent('hand-made hops', () => {
  test('the source itself passes', async () => {
    const source = await startPathSource({ schedule: SCHEDULE })
    const document = await probePath({ url: source.url, source, schedule: SCHEDULE })
    await source.close()
    expect(codesOf(document)).toEqual(['pass_through'])
    expect(document).toMatchObject({ ok: true, numbers: { eventsSent: 21, eventsReceived: 21, end: 'complete' } })
  })

  test.each<{ name: string; forward: Forward; codes: readonly string[] }>([
    { name: 'one that passes on', forward: passOn, codes: ['pass_through'] },
    {
      name: 'one that rewrites line ends and drops comments',
      forward: perBlock((block) =>
        block.startsWith(':') ? '' : block.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n'),
      ),
      codes: ['drops_comments', 'rewrites_line_ends'],
    },
    {
      name: 'one that drops comments alone',
      forward: perBlock((block) => (block.startsWith(':') ? '' : block)),
      codes: ['drops_comments'],
    },
    {
      name: 'one that makes CRLF to LF',
      forward: perBlock((block) => block.replaceAll('\r\n', '\n')),
      codes: ['rewrites_line_ends'],
    },
    {
      name: 'one that sends heartbeats of its own',
      forward: perBlock((block) => `${block}: ping\n\n`),
      codes: ['injects_comments'],
    },
    {
      name: 'one that drops ids',
      forward: perBlock((block) => block.replace(/^id: \d+\r?\n/, '')),
      codes: ['drops_fields'],
    },
    {
      name: 'one that leaves out the space behind the colon',
      forward: perBlock((block) => block.replace('data: ', 'data:')),
      codes: ['reframes'],
    },
    {
      name: 'one that loses an event',
      forward: perBlock((block) => (block.includes('data: 7 ') ? '' : block)),
      codes: ['alters_events'],
    },
    {
      name: 'one that waits for the end',
      forward: (answer, response) => {
        const reads: Uint8Array[] = []
        answer.on('data', (read: Uint8Array) => reads.push(read)).on('end', () => response.end(Buffer.concat(reads)))
      },
      codes: ['buffers_until_end'],
    },
    {
      name: 'one that waits for 1500 bytes',
      forward: (answer, response) => {
        let held: Uint8Array[] = []
        const flush = (): void => {
          response.write(Buffer.concat(held))
          held = []
        }
        answer
          .on('data', (read: Uint8Array) => {
            held.push(read)
            if (Buffer.concat(held).length >= 1500) flush()
          })
          .on('end', () => {
            flush()
            response.end()
          })
      },
      codes: ['buffers_bytes'],
    },
    {
      name: 'one that is late by a quarter of a second',
      forward: (answer, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        answer.on('data', (read: Uint8Array) => setTimeout(() => response.write(read), 250))
        answer.on('end', () => setTimeout(() => response.end(), 250))
      },
      codes: ['adds_latency'],
    },
    {
      name: 'one that breaks off after a few events',
      forward: (answer, response) => {
        let reads = 0
        answer.on('data', (read: Uint8Array) => {
          response.write(read)
          if (++reads === 8) response.destroy()
        })
      },
      codes: ['cuts_stream'],
    },
    {
      name: 'one that answers itself',
      forward: (answer, response) => {
        answer.destroy()
        response.writeHead(503).end()
      },
      codes: ['unreachable'],
    },
  ])('$name: $codes', async ({ forward, codes }) => {
    const document = await judged(SCHEDULE, forward)
    const got = codesOf(document)
    // A constant delay is told beside what it is not the cause of.
    expect(codes.includes('adds_latency') ? got : got.filter((code) => code !== 'adds_latency')).toEqual(
      codes.includes('adds_latency') ? ['adds_latency', 'pass_through'] : codes,
    )
    expect(document.ok).toBe(codes.includes('pass_through') || codes.includes('adds_latency'))
  })

  test('one that flushes by the clock', async () => {
    const document = await judged({ ...SCHEDULE, events: 40, idleMs: 100 }, (answer, response) => {
      let held: Uint8Array[] = []
      const timer = setInterval(() => {
        if (held.length > 0) response.write(Buffer.concat(held))
        held = []
      }, 300)
      answer.on('data', (read: Uint8Array) => held.push(read))
      answer.on('end', () => {
        clearInterval(timer)
        response.end(Buffer.concat(held))
      })
    })
    expect(codesOf(document)).toEqual(['coalesces'])
    expect(document.verdicts[0]!.value).toBeGreaterThan(200)
    expect(document.verdicts[0]!.value).toBeLessThan(450)
  })
})

test('an address where nobody listens', async () => {
  const source = await startPathSource({ schedule: SCHEDULE })
  await source.close()
  const document = await probePath({ url: source.url, source, schedule: SCHEDULE })
  expect(codesOf(document)).toEqual(['unreachable'])
  expect(document.verdicts[0]!.detail).toMatch(/ECONNREFUSED; the source was not asked/)
})

const binary = findNginx()
const idle: PathSchedule = { events: 10, intervalMs: 60, sizes: [20], idleMs: 2500 }

describe.skipIf(binary === undefined)('nginx (skipped where it is not installed)', () => {
  let nginx: Nginx
  let hinting: PathSource
  let silent: PathSource
  let idling: PathSource
  let plain: Nginx
  let slow: Nginx

  beforeAll(async () => {
    hinting = await startPathSource({ schedule: SCHEDULE })
    silent = await startPathSource({ schedule: SCHEDULE, hints: false })
    idling = await startPathSource({ schedule: idle })
    nginx = await startNginx(binary!, silent.url, {
      chunked: 'proxy_buffering on; proxy_http_version 1.1;',
      off: 'proxy_buffering off; proxy_http_version 1.0;',
      gzip: 'proxy_buffering off; proxy_http_version 1.1; gzip on; gzip_types text/event-stream; gzip_proxied any; gzip_min_length 0; gzip_comp_level 1;',
    })
    plain = await startNginx(binary!, hinting.url, { on: 'proxy_buffering on; proxy_http_version 1.0;' })
    slow = await startNginx(binary!, idling.url, {
      idle: 'proxy_buffering off; proxy_http_version 1.1; proxy_read_timeout 1s;',
    })
  })

  afterAll(async () => {
    for (const one of [nginx, plain, slow]) one.stop()
    await Promise.all([hinting, silent, idling].map((source) => source.close()))
  })

  test('buffering off passes', async () => {
    const document = await probePath({ url: `${nginx.url}off`, source: silent, schedule: SCHEDULE })
    expect(codesOf(document)).toEqual(['pass_through'])
    expect(document.headers['server']).toMatch(/nginx/)
  })

  // nginx holds back what comes over HTTP/1.0, its default for upstreams for long; chunks it passes on as they come.
  test('buffering on over chunks passes', async () => {
    const document = await probePath({ url: `${nginx.url}chunked`, source: silent, schedule: SCHEDULE })
    expect(codesOf(document)).toEqual(['pass_through'])
  })

  test('buffering on holds everything back until the end', async () => {
    const schedule: PathSchedule = { ...SCHEDULE, sizes: [20] }
    const source = await startPathSource({ schedule, hints: false })
    const small = await startNginx(binary!, source.url, { on: 'proxy_buffering on; proxy_http_version 1.0;' })
    const document = await probePath({ url: `${small.url}on`, source, schedule })
    small.stop()
    await source.close()
    expect(codesOf(document)).toEqual(['buffers_until_end'])
  })

  test('buffering on with more than its buffers hold is by bytes', async () => {
    const schedule: PathSchedule = { events: 24, intervalMs: 60, sizes: [3000], idleMs: 100 }
    const source = await startPathSource({ schedule, hints: false })
    const large = await startNginx(binary!, source.url, {
      on: 'proxy_buffering on; proxy_http_version 1.0; proxy_buffers 8 4k; proxy_buffer_size 4k;',
    })
    const document = await probePath({ url: `${large.url}on`, source, schedule })
    large.stop()
    await source.close()
    expect(codesOf(document)).toEqual(['buffers_bytes'])
    expect(document.numbers.heldBytes).toBeGreaterThanOrEqual(3000)
  })

  test('the headers of the source switch buffering off', async () => {
    const document = await probePath({ url: `${plain.url}on`, source: hinting, schedule: SCHEDULE })
    expect(codesOf(document)).toEqual(['pass_through'])
  })

  test('gzip', async () => {
    const document = await probePath({ url: `${nginx.url}gzip`, source: silent, schedule: SCHEDULE })
    expect(codesOf(document)).toContain('compresses')
    expect(document.verdicts.find(({ code }) => code === 'compresses')!.detail).toBe('gzip')
    expect(document.numbers.eventsReceived).toBe(21)
  })

  test('a short idle timeout cuts in the silence', async () => {
    const document = await probePath({ url: `${slow.url}idle`, source: idling, schedule: idle })
    expect(codesOf(document)).toEqual(['cuts_idle'])
    const { value } = document.verdicts[0]!
    expect(value).toBeGreaterThan(500)
    expect(value).toBeLessThan(2500)
  })
})
