import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DIAGNOSTIC_CODES, FAULT_CODES } from 'streamfold/chunk'
import { FINDINGS } from 'streamfold/engine'
import { describe, expect, test } from 'vitest'

/**
 * Codes that nothing in the core gives out yet, by hand: they belong to parts that are not written. A code that is raised
 * from now on leaves this list, and its entry in docs/faults.md says `core`.
 */
const NOT_RAISED_YET: readonly string[] = [
  'buffer_limit_exceeded',
  'schema_violation',
  'key_conflict',
  'tool_not_allowed',
  'missing_call_id',
  'resource_denied',
  'not_authorized',
  'check_failed',
  'approval_denied',
  'approval_required',
  'stale_attempt',
  'in_progress',
  'outcome_unknown',
  'execution_failed',
]
/** Codes that are also a word of some wire format, so that finding them in a source says nothing. */
const ALSO_ON_A_WIRE: readonly string[] = ['in_progress']
/** Files that list or read codes without raising them. */
const LISTS = [
  'chunk/fault.ts',
  'chunk/diagnostic.ts',
  'chunk/outcome.ts',
  'engine/diagnose.ts',
  'engine/diagnostics.ts',
]
const PHASES = ['connect', 'headers', 'framing', 'event', 'delta', 'call', 'validate', 'authorize', 'execute']
const RETRYABLE = ['yes', 'restart', 'no', 'unknown', 'n/a']
const LABELS = ['Means', 'Causes', 'Look at', 'Do']

const root = fileURLToPath(new URL('../..', import.meta.url))
const faults: readonly string[] = FAULT_CODES
const findings: readonly string[] = DIAGNOSTIC_CODES
const codes = [...new Set([...faults, ...findings])]

interface Entry {
  readonly code: string
  /** `**Phase** … · **Retryable** …`, without the asterisks: name → rest. */
  readonly facts: ReadonlyMap<string, string>
  readonly labels: readonly string[]
  readonly empty: readonly string[]
}

function entriesOf(page: string): readonly Entry[] {
  return page
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [code, ...lines] = section.split(/^#{1,2} /m, 1)[0]!.split('\n')
      const facts = lines.find((line) => line.startsWith('**')) ?? ''
      const items = lines.filter((line) => line.startsWith('- **'))
      return {
        code: code!.trim(),
        facts: new Map(
          facts.split(' · ').map((fact) => {
            const match = /^\*\*([^*]+)\*\* (.+)$/.exec(fact)
            return [match?.[1] ?? fact, match?.[2] ?? ''] as const
          }),
        ),
        labels: items.map((line) => /^- \*\*([^*]+):\*\*/.exec(line)?.[1] ?? line),
        empty: items.filter((line) => /:\*\*\s*$/.test(line)),
      }
    })
}

const page = readFileSync(join(root, 'docs/faults.md'), 'utf8')
const entries = entriesOf(page)
const factsOf = (code: string) => entries.find((entry) => entry.code === code)?.facts ?? new Map<string, string>()
const inTicks = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)

test('every code has exactly one heading, and every heading is a code', () => {
  expect(entries.map(({ code }) => code).toSorted()).toEqual(codes.toSorted())
})

test('every finding has a hint and a severity', () => {
  expect(Object.keys(FINDINGS).toSorted()).toEqual(findings.toSorted())
  expect(Object.entries(FINDINGS).filter(([, { hint }]) => hint.trim().length < 10)).toEqual([])
})

describe('entries', () => {
  test('each says what it means, its causes, its evidence and what to do', () => {
    const wrong = entries.filter(({ labels, empty }) => labels.join() !== LABELS.join() || empty.length > 0)
    expect(wrong.map(({ code, labels }) => ({ code, labels }))).toEqual([])
  })

  test.each(faults)('%s names its phases, whether it is retryable, and what carries it', (code) => {
    const facts = factsOf(code)
    const phases = inTicks(facts.get('Phase'))
    const retryable = inTicks(facts.get('Retryable'))
    expect(phases).not.toEqual([])
    expect(phases.filter((phase) => !PHASES.includes(phase))).toEqual([])
    expect(retryable).not.toEqual([])
    expect(retryable.filter((answer) => !RETRYABLE.includes(answer))).toEqual([])
    expect(facts.get('On')).toMatch(/^(stream|call)(, (stream|call))?$/)
  })

  test('a finding has the severity that reports show', () => {
    const said = DIAGNOSTIC_CODES.map((code) => {
      const facts = factsOf(code)
      return [code, inTicks(facts.get('Severity') ?? /severity (`\w+`)/.exec(facts.get('Raised by') ?? '')?.[1])]
    })
    expect(said).toEqual(DIAGNOSTIC_CODES.map((code) => [code, [FINDINGS[code].severity]]))
  })

  test('each says who raises it, and says core where the core does', () => {
    expect(entries.filter(({ facts }) => !facts.has('Raised by')).map(({ code }) => code)).toEqual([])
    const others = entries.filter(({ facts }) => !/^core\b/.test(facts.get('Raised by')!))
    expect(others.map(({ code }) => code).toSorted()).toEqual(NOT_RAISED_YET.toSorted())
  })
})

test('every code is raised somewhere in the core, but for those that belong to later parts', () => {
  const folder = join(root, 'packages/core/src')
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !LISTS.includes(file.split(sep).join('/')))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
  const isRaised = (code: string) => sources.some((source) => source.includes(`'${code}'`))
  const silent = codes.filter((code) => ALSO_ON_A_WIRE.includes(code) || !isRaised(code))
  expect(silent.toSorted(), `under ${relative(root, folder)}`).toEqual(NOT_RAISED_YET.toSorted())
})
