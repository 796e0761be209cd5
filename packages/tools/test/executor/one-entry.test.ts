import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const source = join(import.meta.dirname, '../../src')

/** Gives a tool whose own `execute` is entered through the door, and calls the original inside of it. */
const WRAPPER = join('telemetry', 'tool-spans.ts')

/** The rule "nothing runs but under a claim that was just committed" holds as long as there is one door, behind the claim. */
test('a tool is entered in one place only, after its claim was used', () => {
  const entries: string[] = []
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue
    const text = readFileSync(join(source, name), 'utf8')
    // A call of a member named execute, however it is written; declarations and the word in comments are none.
    const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    for (const [call] of code.matchAll(/[\w)\]]\??\.execute\??\.?(?:\(|\.call|\.apply)|\['execute'\]/g))
      entries.push(`${name}: ${call}`)
  }
  expect(entries.filter((entry) => !entry.startsWith(WRAPPER))).toEqual([
    join('executor', 'execute-once.ts') + ': l.execute(',
  ])
  const text = readFileSync(join(source, 'executor/execute-once.ts'), 'utf8')
  expect(text.indexOf('claim.use()')).toBeGreaterThan(-1)
  expect(text.indexOf('claim.use()')).toBeLessThan(text.indexOf('tool.execute('))
  expect(text.match(/\bnew Claim\b/)).toBeNull()
})

test('claims are made in one place only, from rows that were just written', () => {
  const makers = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && /\bnew Claim\(/.test(readFileSync(join(source, name), 'utf8')),
  )
  expect(makers).toEqual([join('ledger', 'claim.ts')])
})
