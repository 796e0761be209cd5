import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import { openStore } from '../../src/store/index.ts'
import type { Store, StoreOptions } from '../../src/store/index.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresAddress: string
  }
}

/** One kind of database, ready for tests. */
export interface Engine {
  readonly name: 'sqlite' | 'postgres'
  /** Address of a new, empty database. */
  fresh(): Promise<string>
  /** A store on a database of its own, closed when the tests are over. */
  open(options?: StoreOptions): Promise<Store>
  /** A store whose time stands still until it is moved. */
  openWithClock(): Promise<{ readonly store: Store; advance(ms: number): Promise<void> }>
}

const CLOCK = '(select at from test_clock)'

/** Runs the same tests on both databases. */
export function describeEachEngine(title: string, tests: (engine: Engine) => void): void {
  for (const name of ['sqlite', 'postgres'] as const) {
    describe(`${title} (${name})`, () => {
      const opened: Store[] = []
      let directory = ''

      beforeAll(() => {
        directory = mkdtempSync(join(tmpdir(), 'streamfold-store-'))
      })

      afterAll(async () => {
        await Promise.all(opened.map((store) => store.close()))
        rmSync(directory, { recursive: true, force: true })
      })

      const engine: Engine = {
        name,
        async fresh() {
          if (name === 'sqlite') return join(directory, `${randomUUID()}.db`)
          const response = await fetch(inject('postgresAddress'), { method: 'POST' })
          const address = await response.text()
          if (!response.ok) throw new Error(address)
          return address
        },
        async open(options) {
          const store = await openStore(await engine.fresh(), options)
          opened.push(store)
          return store
        },
        async openWithClock() {
          const store = await engine.open({ now: CLOCK })
          await store.query('create table test_clock(at bigint not null)')
          await store.query('insert into test_clock(at) values (1700000000000)')
          return {
            store,
            async advance(ms) {
              await store.query('update test_clock set at = at + $1', [ms])
            },
          }
        },
      }
      tests(engine)
    })
  }
}
