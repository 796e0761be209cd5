import { describe, expect, test } from 'vitest'
import { ProgressLine } from '../src/progress-line.ts'
import { memoryIo } from './memory-io.ts'

function onTerminal(env: Readonly<Record<string, string>> = {}): { line: ProgressLine; shown: () => string } {
  const memory = memoryIo({ env })
  Object.assign(memory.io.stderr.stream, { isTTY: true, columns: 40 })
  return { line: new ProgressLine(memory.io), shown: memory.stderr }
}

describe('progress', () => {
  test('is one line on a terminal, and is taken away again', async () => {
    const { line, shown } = onTerminal()
    line.bar(1, 2, 'a name that is longer than the line has room for')
    expect(shown()).toBe('\r\u001b[2K[##########..........]  50% a name that i'.slice(0, 5 + 39))
    await line.clear()
    expect(shown().endsWith('\r\u001b[2K')).toBe(true)
  })

  test('is not drawn more often than an eye can follow', () => {
    const { line, shown } = onTerminal()
    for (let i = 0; i < 1000; i++) line.show(`${i}`)
    expect(shown().split('\r').length).toBeLessThan(100)
  })

  test('is nowhere else', async () => {
    const memory = memoryIo()
    const line = new ProgressLine(memory.io)
    line.bar(1, 2, 'x')
    await line.clear()
    const dumb = onTerminal({ TERM: 'dumb' })
    dumb.line.bar(1, 2, 'x')
    expect(memory.stderr() + dumb.shown()).toBe('')
  })

  test('nothing to clear, nothing written', async () => {
    const { line, shown } = onTerminal()
    await line.clear()
    expect(shown()).toBe('')
  })
})
