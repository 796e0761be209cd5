import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { runProgram } from '../src/program.ts'
import { COMPLETED, recording, WITH_CALL } from './bodies.ts'
import { COMMAND, finished, start } from './built-command.ts'
import { memoryIo } from './memory-io.ts'
import { temporarySamples } from './temporary-samples.ts'

vi.setConfig({ testTimeout: 30_000 })

const folder = temporarySamples({ 'call.sse': WITH_CALL, 'text.stream.jsonl': recording(COMPLETED) })

interface Session {
  readonly url: string
  readonly end: () => Promise<{ exit: number; stderr: string }>
}

/** The command while it serves. */
async function serving(...args: readonly string[]): Promise<Session> {
  const interrupt = new AbortController()
  const memory = memoryIo({ signal: interrupt.signal })
  const written = new Promise<string>((resolve) => {
    memory.io.stdout.write = (text) => {
      resolve(String(text))
      return Promise.resolve()
    }
  })
  const ended = runProgram(['replay', ...args], memory.io)
  const said = await Promise.race([written, ended.then(() => Promise.reject(new Error(memory.stderr())))])
  return {
    url: said.trim(),
    end: async () => {
      interrupt.abort()
      return { exit: await ended, stderr: memory.stderr() }
    },
  }
}

describe('streamfold replay', () => {
  test('serves a recording until it is interrupted, and says what was asked', async () => {
    const session = await serving(join(folder, 'text.stream.jsonl'), '--timing', 'none')
    const response = await fetch(`${session.url}/v1/chat/completions`, { method: 'POST', body: '{}' })
    expect(await response.text()).toBe(COMPLETED)
    expect(await session.end()).toEqual({ exit: 130, stderr: 'POST /v1/chat/completions  text.stream.jsonl\n' })
  })

  test('a folder, by name, with a plan and a fault by flag', async () => {
    const session = await serving(folder, '--plan', 'byte', '--fault', 'crlf+cut:fin@event:2', '--timing', 'none')
    const response = await fetch(session.url, { headers: { 'x-streamfold-recording': 'call' } })
    const text = await response.text()
    expect(text).toMatch(/\r\n/)
    expect(text).not.toContain('[DONE]')
    expect(response.headers.get('x-streamfold-fault-ids')).toBe('F013,F095,F002')
    expect((await session.end()).stderr).toBe('GET /  call  plan byte  fault crlf+cut:fin@event:2\n')
  })

  test('the address as a document', async () => {
    const session = await serving(folder, '--json')
    expect(JSON.parse(session.url)).toEqual({
      schema: 'streamfold/replay@1',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
    })
    await session.end()
  })

  test.each<{ name: string; args: readonly string[]; exit: number; says: RegExp }>([
    { name: 'no path', args: [], exit: 2, says: /missing required argument/ },
    { name: 'an unknown plan', args: [folder, '--plan', 'bite'], exit: 2, says: /"bite" is no plan/ },
    { name: 'an unknown timing', args: [folder, '--timing', 'fast'], exit: 2, says: /"fast" is no timing/ },
    { name: 'an unknown fault', args: [folder, '--fault', 'flood'], exit: 2, says: /"flood" is no fault; known are/ },
    { name: 'a port that is none', args: [folder, '--port', 'x'], exit: 2, says: /must be a port, from 0 to 65535/ },
    { name: 'a port too high', args: [folder, '--port', '65536'], exit: 2, says: /must be a port, from 0 to 65535/ },
    {
      name: 'a host that is none of this machine',
      args: [folder, '--host', '192.0.2.1'],
      exit: 2,
      says: /can't listen there \(EADDRNOTAVAIL\)/,
    },
    { name: 'no such file', args: ['/no/such/file'], exit: 3, says: /\/no\/such\/file: no such file/ },
  ])('$name: $exit', async ({ args, exit, says }) => {
    const memory = memoryIo()
    expect(await runProgram(['replay', ...args], memory.io)).toBe(exit)
    expect(memory.stderr()).toMatch(says)
    expect(memory.stdout()).toBe('')
  })

  test('its help lists the faults', async () => {
    const memory = memoryIo()
    expect(await runProgram(['replay', '--help'], memory.io)).toBe(0)
    expect(memory.stdout()).toMatch(/cut:fin\|no-final-chunk\|rst\s+the body ends here/)
  })

  test('as a process, it ends on an interrupt with streams still open', async () => {
    const child = start(COMMAND, ['replay', folder, '--fault', 'stay-open'])
    const result = finished(child)
    const [url] = (await once(child.stdout, 'data')) as [string]
    const response = await fetch(url.trim(), { headers: { 'x-streamfold-recording': 'call' } })
    await response.body!.getReader().read()
    child.kill('SIGINT')
    expect((await result).code).toBe(130)
  })
})
