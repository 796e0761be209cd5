/** docs/architecture.md says in tables what the code says in lists; here they are compared. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DEFAULT_LIMITS, OUTCOMES_WORST_FIRST } from 'streamfold/chunk'
import type { FinishReason } from 'streamfold/chunk'
import { DEFAULT_TIMEOUTS, REASONING_TIMEOUTS } from 'streamfold/engine'
import { CALL_STATES } from 'streamfold/tool-call'
import { describe, expect, test } from 'vitest'
import { judgeChoice } from '../../packages/core/src/engine/outcome.ts'
import type { ChoiceEvidence } from '../../packages/core/src/engine/outcome.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(fileURLToPath(new URL(path, root)), 'utf8')
const page = read('docs/architecture.md')

/** Rows of the table whose header row begins with this cell, as trimmed cells. */
function table(firstHeader: string): readonly (readonly string[])[] {
  const lines = page.split('\n')
  const start = lines.findIndex((line) => line.startsWith('| ') && line.split('|')[1]!.trim() === firstHeader)
  expect(start, `a table with the header "${firstHeader}"`).toBeGreaterThan(-1)
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'))
  return lines.slice(start + 2, start + length).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
const inTicks = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)
const bytes = (value: number) => (value >= 1024 ** 2 ? `${value / 1024 ** 2} MiB` : String(value))
const time = (value: number) => (value === Infinity ? 'off' : `${value / 1000} s`)
const firstColumn = (firstHeader: string) => table(firstHeader).flatMap(([cell]) => inTicks(cell!))

describe('stages', () => {
  const rows = table('Folder')

  test('every folder has its row', () => {
    const folders = readdirSync(fileURLToPath(new URL('packages/core/src', root)), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
    expect(rows.flatMap(([folder]) => inTicks(folder!)).toSorted()).toEqual(folders.toSorted())
  })

  test('a row allows the imports that the linter allows', () => {
    const rules = [...read('.oxlintrc.json').matchAll(/"message": "([\w-]+) imports ([^;"]+);/g)]
    const allowed = new Map(
      rules.map(([, folder, list]) => [folder!, list === 'no other folder' ? [] : list!.split(', ')]),
    )
    const all = [...allowed.keys()].filter((folder) => folder !== 'client')
    const said = rows.map(([folder, , imports]) => [
      inTicks(folder!)[0]!,
      (imports === 'all of the above' ? all : inTicks(imports!)).toSorted(),
    ])
    expect(Object.fromEntries(said)).toEqual(
      Object.fromEntries([...allowed].map(([folder, list]) => [folder, list.toSorted()])),
    )
  })
})

test.each([
  ['StreamChunk', 'packages/core/src/chunk/chunk.ts'],
  ['StreamEvent', 'packages/core/src/chunk/stream-event.ts'],
])('every type of %s is explained, and nothing else', (union, path) => {
  const types = [...read(path).matchAll(/readonly type: '([\w-]+)'/g)].map((match) => match[1]!)
  expect(firstColumn(union).toSorted()).toEqual(types.toSorted())
})

test('the outcomes are named worst first', () => {
  const sentence = /worst of its choices, in this order: ([^.]+)\./.exec(page)?.[1] ?? ''
  expect(inTicks(sentence)).toEqual(OUTCOMES_WORST_FIRST)
})

test('the picture of a call has its states in order', () => {
  const picture = /```text\n(collecting [\s\S]+?)```/.exec(page)?.[1] ?? ''
  expect(picture.match(/[a-z]+/g)).toEqual(CALL_STATES)
})

describe('limits and timers', () => {
  test('limits and their defaults', () => {
    expect(table('`limits`').map(([name, value]) => [inTicks(name!)[0], value])).toEqual(
      Object.entries(DEFAULT_LIMITS).map(([name, value]) => [name, bytes(value)]),
    )
  })

  test('timers, their defaults and the preset', () => {
    expect(table('`timeouts`').map(([name, value, reasoning]) => [inTicks(name!)[0], value, reasoning])).toEqual(
      Object.entries(DEFAULT_TIMEOUTS).map(([name, value]) => [
        name,
        time(value),
        time(REASONING_TIMEOUTS[name as keyof typeof REASONING_TIMEOUTS]),
      ]),
    )
  })
})

describe('the outcome table', () => {
  const CONDITIONS: Readonly<Record<string, (evidence: ChoiceEvidence) => boolean>> = {
    '': () => true,
    'policy `strict`': ({ policy }) => policy === 'strict',
    'refusal text': ({ hasRefusal }) => hasRefusal,
    'an event was skipped': ({ skipped }) => skipped,
    'arguments repaired, `strict`': ({ repaired, policy }) => repaired && policy === 'strict',
    'arguments repaired': ({ repaired }) => repaired,
    'neither text nor calls': ({ hasText, hasCalls }) => !hasText && !hasCalls,
    'text, and no calls': ({ hasText, hasCalls }) => hasText && !hasCalls,
  }
  const OTHERS: readonly string[] = ['stop', 'tool-calls', 'pause', 'unknown']
  const REASONS = [null, ...OTHERS, 'aborted', 'error', 'content-filter', 'length'] as (FinishReason | null)[]
  const BOTH = [false, true]

  const rows = table('Finish reason').map(([finish, terminal, and, outcome, calls]) => {
    const reasons: readonly (string | null)[] =
      finish === 'none' ? [null] : finish === 'any other' ? OTHERS : inTicks(finish!)
    const orRefusal = and === 'or any refusal text'
    const condition = orRefusal ? CONDITIONS['']! : CONDITIONS[and!]
    expect(condition, `the condition "${and}" is known to this test`).toBeDefined()
    const [compat, strict = compat] = inTicks(outcome!.replace(/strict: /, ''))
    return {
      fits: (evidence: ChoiceEvidence) =>
        (reasons.includes(evidence.finish) || (orRefusal && evidence.hasRefusal && evidence.finish !== null)) &&
        (terminal === 'any' || (terminal === 'seen') === evidence.terminal) &&
        condition!(evidence),
      say: ({ policy }: ChoiceEvidence) => {
        const said = policy === 'strict' ? strict : compat
        const kept = said === compat || calls === 'refused'
        return {
          outcome: said,
          calls: !kept || calls === 'refused' ? 'refuse' : calls!.startsWith('held') ? 'hold' : 'release',
          ...(kept && calls!.startsWith('held') && { code: inTicks(calls!)[0] }),
        }
      },
    }
  })

  const evidences: ChoiceEvidence[] = REASONS.flatMap((finish) =>
    BOTH.flatMap((terminal) =>
      BOTH.flatMap((skipped) =>
        BOTH.flatMap((repaired) =>
          BOTH.flatMap((hasCalls) =>
            ['none', 'text', 'refusal'].flatMap((content) =>
              (['compat', 'strict'] as const).map((policy): ChoiceEvidence => ({
                finish,
                terminal,
                terminalRequired: 'required',
                finishRequired: 'required',
                cleanEnd: true,
                skipped,
                repaired,
                hasText: content !== 'none',
                hasRefusal: content === 'refusal',
                hasCalls,
                policy,
              })),
            ),
          ),
        ),
      ),
    ),
  )

  test.each(REASONS)('a choice with finish reason %s ends as the table says, whatever else is known', (finish) => {
    const wrong = evidences.filter((evidence) => {
      if (evidence.finish !== finish) return false
      const said = rows.find((row) => row.fits(evidence))?.say(evidence)
      const { outcome, calls, code } = judgeChoice(evidence)
      return outcome !== said?.outcome || calls !== said.calls || (calls === 'hold' && code !== said.code)
    })
    expect(wrong).toEqual([])
  })
})
