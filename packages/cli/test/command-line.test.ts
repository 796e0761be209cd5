import { once } from 'node:events'
import type { StreamReport } from 'streamfold'
import { expect, test, vi } from 'vitest'
import { COMPLETED, CUT, delta, sse, temporaryFolder } from './bodies.ts'
import { COMMAND, finished, start } from './built-command.ts'

// Starting Node takes a second on a busy machine.
vi.setConfig({ testTimeout: 30_000 })

const write = temporaryFolder()

test('reports on standard output, and gives its exit code', async () => {
  const result = await finished(start(COMMAND, ['inspect', '--json', write('cut.sse', CUT)]))
  expect({ ...result, stdout: '' }).toEqual({ code: 1, signal: null, stdout: '', stderr: '' })
  expect((JSON.parse(result.stdout) as StreamReport).outcome).toBe('incomplete')
})

test('reads standard input', async () => {
  const child = start(COMMAND, ['inspect', '--strict', '-'])
  child.stdin.end(COMPLETED)
  const { code, stdout } = await finished(child)
  expect([code, stdout.split('\n')[0]]).toEqual([0, 'ok   completed  standard input'])
})

test('a report larger than a pipe holds arrives whole', async () => {
  const text = 'word '.repeat(200_000)
  const { code, stdout } = await finished(
    start(COMMAND, [
      'inspect',
      '--jsonl',
      write('big.sse', sse(delta({ content: text }), delta({}, 'stop'), '[DONE]')),
    ]),
  )
  expect(code).toBe(0)
  expect((JSON.parse(stdout) as StreamReport).choices[0]!.text).toBe(text)
})

test('a reader that goes away is no error', async () => {
  const big = write('big-too.sse', sse(delta({ content: 'word '.repeat(50_000) }), delta({}, 'stop'), '[DONE]'))
  const child = start(COMMAND, ['inspect', '--jsonl', ...Array.from({ length: 20 }, () => big)])
  child.stdout.once('data', () => child.stdout.destroy())
  const { code, signal, stderr } = await finished(child)
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' })
})

test('an interrupt while it waits for input ends it with 130', async () => {
  const missing = '/no/such/file'
  const child = start(COMMAND, ['inspect', missing, '-'])
  // The message about the first input says that it has come to the second.
  const result = finished(child)
  await once(child.stderr, 'data')
  child.kill('SIGINT')
  expect(await result).toMatchObject({ code: 130, signal: null, stdout: '' })
})

test('without a command it shows its help, as a usage error', async () => {
  const { code, stderr } = await finished(start(COMMAND, []))
  expect(code).toBe(2)
  expect(stderr).toContain('Usage: streamfold')
})
