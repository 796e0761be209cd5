import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { readRecordingFile } from '../../src/file/recording-file.ts'
import { CAPABILITIES, driftOf, withClaims } from '../../src/probe/capability.ts'
import type { CapabilityName, CapabilityRecord, CapabilityState } from '../../src/probe/capability.ts'
import { probe } from '../../src/probe/probe.ts'
import type { ProbeOptions } from '../../src/probe/probe.ts'
import { startFakeEndpoint } from './fake-endpoint.ts'
import type { FakeEndpoint, FakeTraits } from './fake-endpoint.ts'

let endpoint: FakeEndpoint | undefined
afterEach(async () => {
  await endpoint?.close()
  endpoint = undefined
})

async function probed(
  traits: FakeTraits | ((request: number) => FakeTraits),
  options: Partial<ProbeOptions> = {},
): Promise<CapabilityRecord> {
  endpoint = await startFakeEndpoint(typeof traits === 'function' ? traits : () => traits)
  return await probe({ url: endpoint.url, model: 'fake', repeat: 1, now: () => Date.UTC(2026, 10, 30), ...options })
}

function statesOf({ capabilities }: CapabilityRecord): Record<CapabilityName, CapabilityState> {
  return Object.fromEntries(CAPABILITIES.map((name) => [name, capabilities[name].state])) as Record<
    CapabilityName,
    CapabilityState
  >
}

const ALL_YES = Object.fromEntries(CAPABILITIES.map((name) => [name, 'yes']))

describe('cells', () => {
  test.each<{ name: string; traits: FakeTraits; differs: Partial<Record<CapabilityName, CapabilityState>> }>([
    { name: 'everything right', traits: {}, differs: {} },
    { name: 'no sentinel', traits: { sentinel: false }, differs: { sentinel: 'no' } },
    { name: 'no usage', traits: { usage: false }, differs: { usage: 'no' } },
    { name: 'arguments in one piece', traits: { wholeArguments: true }, differs: { incremental_arguments: 'no' } },
    { name: 'one call at a time', traits: { oneCall: true }, differs: { parallel_calls: 'no' } },
    {
      name: 'no tools',
      traits: { noTools: true },
      differs: { tools: 'no', incremental_arguments: 'unknown', parallel_calls: 'unknown', ends: 'partial' },
    },
    {
      name: 'no streaming',
      traits: { neverStreams: true },
      differs: {
        streaming: 'no',
        usage: 'partial',
        sentinel: 'unknown',
        tools: 'no',
        incremental_arguments: 'unknown',
        parallel_calls: 'unknown',
        ends: 'partial',
      },
    },
    { name: 'a stream that is none', traits: { fake: true }, differs: { streaming: 'partial' } },
    { name: 'errors in plain text', traits: { plainErrors: true }, differs: { errors: 'partial' } },
    { name: 'a limit that is hidden', traits: { hidesLength: true }, differs: { ends: 'partial' } },
  ])('$name', async ({ traits, differs }) => {
    expect(statesOf(await probed(traits))).toEqual({ ...ALL_YES, ...differs })
  })

  test('what differs between rounds is partial, and says so', async () => {
    const record = await probed((request) => ({ usage: request < 6 }), { repeat: 2 })
    expect(record.capabilities.usage).toMatchObject({ state: 'partial', rounds: ['yes', 'no'] })
    expect(record.capabilities.usage.detail).toMatch(/^not each time: yes \(9 in, 12 out\), no \(no counters\)$/)
    expect(record.capabilities.tools).toMatchObject({ state: 'yes', rounds: ['yes', 'yes'] })
  })

  test('a server that never sends the sentinel gets a profile', async () => {
    expect((await probed({ sentinel: false })).profile).toEqual({ sentinel: 'optional' })
    expect((await probed({})).profile).toEqual({})
  })
})

describe('the record', () => {
  test('is dated, says what was sent, and names no secret', async () => {
    const record = await probed({}, { apiKey: 'sk-secret-secret-secret-secret' })
    expect(record).toMatchObject({
      schema: 'streamfold/capabilities@1',
      api: 'chat_completions',
      model: 'fake',
      measuredAt: '2026-11-30T00:00:00.000Z',
      requests: { sent: 6, allowed: 20 },
    })
    expect(JSON.stringify(record)).not.toContain('sk-secret')
  })

  test('every cell has a recording as its evidence, for its owner only and without the key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'streamfold-'))
    const record = await probed({}, { record: folder, apiKey: 'sk-secret-secret-secret-secret' })
    const files = readdirSync(folder)
    expect(files).toHaveLength(6)
    for (const name of CAPABILITIES) {
      expect(record.capabilities[name].evidence.length).toBeGreaterThan(0)
      for (const file of record.capabilities[name].evidence) expect(files).toContain(file)
    }
    const [recording] = await readRecordingFile(join(folder, 'tool-stream-1.stream.jsonl'))
    expect(recording!.reads.length).toBeGreaterThan(5)
    expect(JSON.stringify(recording!.lines)).not.toContain('sk-secret')
    expect(statSync(join(folder, 'tool-stream-1.stream.jsonl')).mode & 0o077).toBe(0)
    rmSync(folder, { recursive: true })
  })

  test('the budget is kept, and what it left out is unknown', async () => {
    const record = await probed({}, { budget: 2 })
    expect(endpoint!.requests).toHaveLength(2)
    expect(record.stopped?.code).toBe('budget')
    expect(statesOf(record)).toMatchObject({
      non_streaming: 'yes',
      streaming: 'yes',
      tools: 'unknown',
      errors: 'unknown',
    })
  })

  test('a key that is refused ends it after one request', async () => {
    const record = await probed({ status: 401 })
    expect(endpoint!.requests).toHaveLength(1)
    expect(record.stopped).toEqual({ code: 'no_access', message: expect.stringContaining('answered 401') as string })
    expect(new Set(Object.values(statesOf(record)))).toEqual(new Set(['unknown']))
  })

  test('an endpoint that is not there', async () => {
    const gone = await startFakeEndpoint(() => ({}))
    await gone.close()
    const record = await probe({ url: gone.url, model: 'fake' })
    expect(record.stopped).toEqual({ code: 'unreachable', message: expect.stringContaining('ECONNREFUSED') as string })
  })

  test('misuse', async () => {
    await expect(probe({ url: 'ftp://x/', model: 'm' })).rejects.toThrow(TypeError)
    await expect(probe({ url: 'http://127.0.0.1:1', model: 'm', api: 'cohere' })).rejects.toThrow(/can't be probed/)
  })
})

describe('claims and drift', () => {
  test('a claim is verified or contradicted by measurement only', async () => {
    const record = withClaims(await probed({ oneCall: true }, { budget: 5 }), {
      streaming: 'yes',
      usage: 'no',
      parallel_calls: 'yes',
    })
    expect(record.capabilities.streaming.claim).toEqual({ state: 'yes', status: 'verified' })
    expect(record.capabilities.usage.claim).toEqual({ state: 'no', status: 'contradicted' })
    // Five requests did not reach the parallel calls.
    expect(record.capabilities.parallel_calls.claim).toEqual({ state: 'yes', status: 'unverified' })
    expect(record.capabilities.tools.claim).toBeUndefined()
  })

  test('drift is what both measurements know and see differently', async () => {
    const before = await probed({})
    await endpoint!.close()
    const after = await probed({ usage: false, sentinel: false }, { budget: 3 })
    expect(driftOf(before, after)).toEqual([
      { capability: 'usage', before: 'yes', after: 'no' },
      { capability: 'sentinel', before: 'yes', after: 'no' },
    ])
    expect(driftOf(before, before)).toEqual([])
  })
})
