import { describe, expect, test } from 'vitest'
import { GroupCommit } from '../../src/store/group-commit.ts'
import type { SqliteFile } from '../../src/store/sqlite-engine.ts'

/**
 * A file whose disk is full for the statement `big`. As SQLite may, it then undoes the whole transaction, and what comes next is
 * committed on its own.
 */
class FullFile implements SqliteFile {
  readonly said: string[] = []
  readonly committed: string[] = []
  #open: string[] | undefined

  exec(text: string): void {
    this.said.push(text)
    if (text.startsWith('begin')) this.#open = []
    else if (this.#open === undefined) throw new Error(`cannot ${text} - no transaction is active`)
    else if (text === 'commit') this.#end(this.#open)
    else if (text === 'rollback') this.#end([])
  }

  all(text: string): readonly object[] {
    if (text === 'big') {
      this.#open = undefined
      throw Object.assign(new Error('database or disk is full'), { errcode: 13 })
    }
    if (text === 'wrong') throw Object.assign(new Error('no such column'), { errcode: 1 })
    if (this.#open === undefined) this.committed.push(text)
    else this.#open.push(text)
    return []
  }

  close(): void {}

  #end(rows: readonly string[]): void {
    this.committed.push(...rows)
    this.#open = undefined
  }
}

const FULL: unknown = expect.objectContaining({ status: 'rejected', reason: expect.objectContaining({ code: 'full' }) })

describe('a transaction that SQLite undid by itself', () => {
  test('alone: it fails for its own reason, and the next one runs', async () => {
    const file = new FullFile()
    const group = new GroupCommit(file, { readOnly: false })
    await expect(group.run((tx) => tx.query('big'))).rejects.toMatchObject({ name: 'StoreError', code: 'full' })
    await group.run((tx) => tx.query('small'))
    expect(file.committed).toEqual(['small'])
  })

  test('alone, and its body goes on as if nothing had been: nothing is committed on its own', async () => {
    const file = new FullFile()
    const group = new GroupCommit(file, { readOnly: false })
    const swallowing = group.run(async (tx) => {
      await tx.query('before')
      await tx.query('big').catch(() => {})
      await tx.query('after').catch(() => {})
    })
    await expect(swallowing).rejects.toMatchObject({ code: 'full' })
    expect(file.committed).toEqual([])
  })

  test('among others: all of them fail, for that reason', async () => {
    const file = new FullFile()
    const group = new GroupCommit(file, { readOnly: false })
    const all = ['one', 'big', 'three'].map((text) => group.run((tx) => tx.query(text)))
    expect(await Promise.allSettled(all)).toEqual([FULL, FULL, FULL])
    expect(file.committed).toEqual([])
  })

  test('a statement that is wrong undoes nothing but its own transaction', async () => {
    const file = new FullFile()
    const group = new GroupCommit(file, { readOnly: false })
    const all = ['one', 'wrong', 'three'].map((text) => group.run((tx) => tx.query(text)))
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(file.said).toContain('rollback to one; release one')
    expect(file.said.at(-1)).toBe('commit')
  })
})
