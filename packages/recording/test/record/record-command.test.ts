import { mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Recording } from 'streamfold/recording'
import { proxyEnvironment, recordOutput, runCommand } from '../../src/record/record-command.ts'
import { folderSinks } from '../../src/record/recording-sink.ts'
import { bodyOf, recordingsIn, temporaryFolder, upstream } from './upstream.ts'

const root = temporaryFolder()

async function tap(command: readonly string[]): Promise<{ exitCode: number; seen: string; recording: Recording }> {
  const folder = mkdtempSync(join(root, 'case-'))
  let seen = ''
  const { exitCode } = await recordOutput(
    command,
    { sink: folderSinks(folder), by: 'test' },
    { onStdout: (bytes) => (seen += Buffer.from(bytes).toString()), onStderr: () => {} },
  )
  return { exitCode, seen, recording: recordingsIn(folder)[0]! }
}

const node = (script: string): readonly string[] => [process.execPath, '-e', script]

describe('a command whose output is recorded', () => {
  test('a bare body', async () => {
    const { exitCode, seen, recording } = await tap(node('process.stdout.write("data: 1\\n\\n")'))
    expect([exitCode, seen]).toEqual([0, 'data: 1\n\n'])
    expect(bodyOf(recording)).toBe('data: 1\n\n')
    expect(recording.response).toBeUndefined()
    expect(recording.head).toMatchObject({ level: 'imported', other: { labels: { source: 'stdout' } } })
    expect(recording.end).toMatchObject({ kind: 'complete' })
  })

  test('a head in front, over several writes', async () => {
    const writes = [
      'HTTP/1.1 100 Continue\\r\\n\\r\\nHTT',
      'P/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\n\\r',
      '\\ndata: 1\\n\\n',
      'data: 2\\n\\n',
    ]
    const script = `const w=${JSON.stringify(writes).replaceAll('\\\\', '\\')};const next=()=>{const x=w.shift();if(x!==undefined)process.stdout.write(x,()=>setTimeout(next,20))};next()`
    const { seen, recording } = await tap(node(script))
    expect(seen).toBe(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\ndata: 2\n\n',
    )
    expect(bodyOf(recording)).toBe('data: 1\n\ndata: 2\n\n')
    expect(recording.response).toMatchObject({ status: 200, headers: [['Content-Type', 'text/event-stream']] })
    expect(recording.lines.map(({ t }) => t).slice(0, 4)).toEqual(['head', 'req', 'other', 'res'])
  })

  test.each([
    { code: 18, kind: 'cut' },
    { code: 56, kind: 'reset' },
    { code: 28, kind: 'timeout' },
    { code: 7, kind: 'error' },
  ])('exit code $code of curl is $kind', async ({ code, kind }) => {
    const { exitCode, recording } = await tap(node(`process.exitCode = ${code}`))
    expect(exitCode).toBe(code)
    expect(recording.end).toMatchObject({ kind, code: `exit_${code}` })
  })

  test.each([
    { name: 'that is not there', command: '/no/such/command', exitCode: 127, notStarted: /^no such command/ },
    { name: 'that is no program', command: root, exitCode: 126, notStarted: /^it can't be executed/ },
  ])('a command $name: no recording', async ({ command, exitCode, notStarted }) => {
    const folder = mkdtempSync(join(root, 'case-'))
    let recorded = 0
    const options = { sink: folderSinks(folder), by: 'test', onRecorded: () => recorded++ }
    expect(await recordOutput([command], options)).toEqual({
      exitCode,
      notStarted: expect.stringMatching(notStarted) as string,
    })
    expect([recorded, readdirSync(folder)]).toEqual([0, []])
  })

  test('the recording is on disk when the command is told to have ended', async () => {
    const folder = mkdtempSync(join(root, 'case-'))
    await recordOutput(node('process.stdout.write("data: 1\\n\\n")'), { sink: folderSinks(folder), by: 'test' })
    expect(recordingsIn(folder)[0]!.end).toMatchObject({ kind: 'complete' })
  })

  test('curl itself: method, address and head', async () => {
    if ((await runCommand(['curl', '--version'], { onStdout: () => {}, onStderr: () => {} })).exitCode !== 0) return
    const to = await upstream((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: 1\n\n'),
    )
    const { recording } = await tap(['curl', '-sNi', '--noproxy', '*', '-d', '{}', `${to}/v1?key=abc`])
    expect(recording.request).toMatchObject({ method: 'POST', url: `${to}/v1?key=[redacted:3]` })
    expect(recording.response).toMatchObject({ status: 200 })
    expect(bodyOf(recording)).toBe('data: 1\n\n')
  })
})

test('what points SDKs at the proxy', () => {
  const url = 'http://127.0.0.1:1'
  expect(proxyEnvironment(url, new URL('https://a.example'))).toMatchObject({
    OPENAI_BASE_URL: `${url}/v1`,
    ANTHROPIC_BASE_URL: url,
  })
  expect(proxyEnvironment(url, new URL('https://a.example/v1'))).toMatchObject({ OPENAI_BASE_URL: url })
})
