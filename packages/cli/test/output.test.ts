import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { Output } from '../src/output.ts'
import { runProgram } from '../src/program.ts'
import { COMPLETED, CUT, temporaryFolder } from './bodies.ts'
import { memoryIo } from './memory-io.ts'

const write = temporaryFolder()

/** A reader that takes one write at a time, when told to. */
class SlowStream extends Writable {
  readonly taken: string[] = []
  take: () => void = () => {}

  constructor() {
    super({ highWaterMark: 1 })
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.taken.push(new TextDecoder().decode(chunk))
    this.take = done
  }
}

/** A reader that goes away at the write of this number. */
class LeavingStream extends Writable {
  writes = 0
  readonly #leavesAt: number
  readonly #code: string

  constructor(leavesAt: number, code: string) {
    super({ highWaterMark: 1 })
    this.#leavesAt = leavesAt
    this.#code = code
  }

  override _write(_chunk: Uint8Array, _encoding: string, done: (error?: Error) => void): void {
    this.writes++
    if (this.writes < this.#leavesAt) done()
    else setImmediate(() => done(Object.assign(new Error(`write ${this.#code}`), { code: this.#code })))
  }
}

test('waits for a slow reader before the next write', async () => {
  const stream = new SlowStream()
  const output = new Output(stream)
  const order: string[] = []
  const first = output.write('one').then(() => order.push('written'))
  order.push('taken')
  stream.take()
  await first
  expect(order).toEqual(['taken', 'written'])
})

test('a reader that goes away ends the waiting, and is no failure', async () => {
  const output = new Output(new LeavingStream(1, 'EPIPE'))
  await output.write('one')
  expect(output.closed).toBe(true)
  await output.write('two')
})

test('any other failure is one', async () => {
  const output = new Output(new LeavingStream(1, 'ENOSPC'))
  await expect(output.write('one')).rejects.toThrow(/can't be written: write ENOSPC/)
})

test('inspect stops quietly when its reader goes away, with the verdict so far', async () => {
  const stream = new LeavingStream(2, 'EPIPE')
  const memory = memoryIo({ stdout: stream })
  const files = [COMPLETED, COMPLETED, CUT].map((body, i) => write(`${i}.sse`, body))
  expect(await runProgram(['inspect', '--jsonl', ...files], memory.io)).toBe(0)
  expect([stream.writes, memory.stderr()]).toEqual([2, ''])
})
