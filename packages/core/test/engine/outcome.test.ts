import { describe, expect, test } from 'vitest'
import type { Evidence } from '../../src/adapters/adapter.ts'
import type { FinishReason } from '../../src/chunk/finish-reason.ts'
import { permitsToolCalls } from '../../src/chunk/finish-reason.ts'
import { OUTCOMES_WORST_FIRST } from '../../src/chunk/outcome.ts'
import type { Outcome } from '../../src/chunk/outcome.ts'
import { judgeChoice, worstOutcome } from '../../src/engine/outcome.ts'
import type { ChoiceEvidence, ChoiceVerdict } from '../../src/engine/outcome.ts'

/** A choice that ended as it should, with text. */
const GOOD: ChoiceEvidence = {
  finish: 'stop',
  terminal: true,
  terminalRequired: 'required',
  finishRequired: 'required',
  cleanEnd: true,
  skipped: false,
  repaired: false,
  hasText: true,
  hasRefusal: false,
  hasCalls: false,
  policy: 'compat',
}

interface Row {
  readonly name: string
  readonly evidence: Partial<ChoiceEvidence>
  /** Outcome, what becomes of the calls, and why. */
  readonly compat: string
  /** Default: the same. */
  readonly strict?: string
}

const rows: readonly Row[] = [
  { name: 'stop with text', evidence: {}, compat: 'completed release' },
  { name: 'stop with calls', evidence: { hasCalls: true }, compat: 'completed release' },
  { name: 'stop with nothing', evidence: { hasText: false }, compat: 'empty release' },
  {
    name: 'tool-calls with calls',
    evidence: { finish: 'tool-calls', hasCalls: true, hasText: false },
    compat: 'completed release',
  },
  { name: 'tool-calls without calls', evidence: { finish: 'tool-calls' }, compat: 'degraded release' },
  { name: 'tool-calls with nothing', evidence: { finish: 'tool-calls', hasText: false }, compat: 'empty release' },
  { name: 'pause with calls', evidence: { finish: 'pause', hasCalls: true }, compat: 'completed release' },

  { name: 'length', evidence: { finish: 'length', hasCalls: true }, compat: 'truncated refuse output_truncated' },
  {
    name: 'length without the terminal signal',
    evidence: { finish: 'length', terminal: false },
    compat: 'truncated refuse output_truncated',
  },
  {
    name: 'content-filter',
    evidence: { finish: 'content-filter', hasCalls: true },
    compat: 'refused refuse output_refused',
  },
  { name: 'any refusal text', evidence: { hasRefusal: true, hasCalls: true }, compat: 'refused refuse output_refused' },
  {
    name: 'a refusal at the token limit',
    evidence: { finish: 'length', hasRefusal: true },
    compat: 'refused refuse output_refused',
  },
  { name: 'error', evidence: { finish: 'error', hasCalls: true }, compat: 'failed refuse upstream_error' },
  {
    name: 'error with a refusal',
    evidence: { finish: 'error', hasRefusal: true },
    compat: 'failed refuse upstream_error',
  },
  {
    name: 'aborted by the provider',
    evidence: { finish: 'aborted', hasCalls: true },
    compat: 'incomplete refuse incomplete_stream',
  },
  { name: 'unknown', evidence: { finish: 'unknown', hasCalls: true }, compat: 'degraded hold finish_unknown' },
  {
    name: 'unknown without the terminal signal',
    evidence: { finish: 'unknown', terminal: false },
    compat: 'degraded hold finish_unknown',
    strict: 'incomplete refuse incomplete_stream',
  },

  {
    name: 'a finish reason without the terminal signal',
    evidence: { terminal: false, hasCalls: true },
    compat: 'degraded release',
    strict: 'incomplete refuse incomplete_stream',
  },
  {
    name: 'the same, where the signal is optional',
    evidence: { terminal: false, terminalRequired: 'optional', hasCalls: true },
    compat: 'completed release',
  },
  {
    name: 'the same after a reset',
    evidence: { terminal: false, terminalRequired: 'optional', cleanEnd: false },
    compat: 'degraded release',
    strict: 'incomplete refuse incomplete_stream',
  },
  {
    name: 'a transport error behind the terminal signal',
    evidence: { cleanEnd: false, hasCalls: true },
    compat: 'completed release',
  },

  {
    name: 'the terminal signal without a finish reason',
    evidence: { finish: null, hasCalls: true },
    compat: 'degraded hold missing_finish_reason',
    strict: 'incomplete refuse missing_finish_reason',
  },
  {
    name: 'the same, where the finish reason is optional',
    evidence: { finish: null, finishRequired: 'optional', hasCalls: true },
    compat: 'completed release',
  },
  {
    name: 'the same with nothing in it',
    evidence: { finish: null, finishRequired: 'optional', hasText: false },
    compat: 'empty release',
  },
  {
    name: 'neither, where the finish reason alone is optional',
    evidence: { finish: null, terminal: false, finishRequired: 'optional' },
    compat: 'incomplete refuse incomplete_stream',
  },
  {
    name: 'neither, where both are optional',
    evidence: { finish: null, terminal: false, finishRequired: 'optional', terminalRequired: 'optional' },
    compat: 'completed release',
  },
  {
    name: 'the same after a cut',
    evidence: {
      finish: null,
      terminal: false,
      finishRequired: 'optional',
      terminalRequired: 'optional',
      cleanEnd: false,
    },
    compat: 'incomplete refuse incomplete_stream',
  },
  {
    name: 'neither',
    evidence: { finish: null, terminal: false, hasCalls: true },
    compat: 'incomplete refuse incomplete_stream',
  },
  {
    name: 'the terminal signal behind a refusal without a finish reason',
    evidence: { finish: null, hasRefusal: true },
    compat: 'refused refuse output_refused',
    strict: 'incomplete refuse missing_finish_reason',
  },

  {
    name: 'an event that could not be read',
    evidence: { skipped: true, hasCalls: true },
    compat: 'degraded hold event_skipped',
    strict: 'failed refuse invalid_event_json',
  },
  {
    name: 'the same without a finish reason',
    evidence: { skipped: true, finish: null },
    compat: 'degraded hold event_skipped',
    strict: 'incomplete refuse missing_finish_reason',
  },
  {
    name: 'the same at the token limit',
    evidence: { skipped: true, finish: 'length' },
    compat: 'truncated refuse output_truncated',
  },
  {
    name: 'the same with an unknown finish reason',
    evidence: { skipped: true, finish: 'unknown' },
    compat: 'degraded hold event_skipped',
    strict: 'failed refuse invalid_event_json',
  },

  {
    name: 'a repair',
    evidence: { repaired: true, hasCalls: true },
    compat: 'degraded release',
    strict: 'failed refuse arguments_invalid',
  },
  {
    name: 'a repair without the terminal signal',
    evidence: { repaired: true, hasCalls: true, terminal: false },
    compat: 'degraded release',
    strict: 'incomplete refuse incomplete_stream',
  },
]

function judged(evidence: ChoiceEvidence): string {
  const { outcome, calls, code } = judgeChoice(evidence)
  return code === null ? `${outcome} ${calls}` : `${outcome} ${calls} ${code}`
}

/** 0 is the worst. */
function rank(evidence: ChoiceEvidence): number {
  return OUTCOMES_WORST_FIRST.indexOf(judgeChoice(evidence).outcome)
}

describe('judgeChoice', { timeout: 60_000 }, () => {
  test.each(rows)('$name → $compat', ({ evidence, compat, strict = compat }) => {
    expect(judged({ ...GOOD, ...evidence })).toBe(compat)
    expect(judged({ ...GOOD, ...evidence, policy: 'strict' })).toBe(strict)
  })

  const FINISHES: readonly (FinishReason | null)[] = [
    null,
    'stop',
    'length',
    'tool-calls',
    'content-filter',
    'pause',
    'error',
    'aborted',
    'unknown',
  ]
  const EVIDENCE: readonly Evidence[] = ['required', 'optional']
  const FLAGS = ['terminal', 'cleanEnd', 'skipped', 'repaired', 'hasText', 'hasRefusal', 'hasCalls'] as const

  /** Every combination there is. */
  function* everything(): Generator<ChoiceEvidence> {
    for (const finish of FINISHES) {
      for (const terminalRequired of EVIDENCE) {
        for (const finishRequired of EVIDENCE) {
          for (let bits = 0; bits < 2 ** FLAGS.length; bits++) {
            const flags = Object.fromEntries(FLAGS.map((flag, bit) => [flag, ((bits >> bit) & 1) === 1]))
            yield { ...GOOD, ...flags, finish, terminalRequired, finishRequired }
          }
        }
      }
    }
  }

  /** Evidence, in either policy, for which `wrong` says so. */
  function violations(wrong: (evidence: ChoiceEvidence, verdict: ChoiceVerdict) => boolean): readonly ChoiceEvidence[] {
    const found: ChoiceEvidence[] = []
    for (const evidence of everything()) {
      for (const policy of ['compat', 'strict'] as const) {
        const judgedEvidence = { ...evidence, policy }
        if (wrong(judgedEvidence, judgeChoice(judgedEvidence))) found.push(judgedEvidence)
      }
    }
    return found
  }

  test('all combinations are looked at', () => {
    expect([...everything()]).toHaveLength(9 * 2 * 2 * 128)
  })

  test('calls are released only under a finish reason that permits them, or where none is due', () => {
    const wrong = violations(({ finish, finishRequired }, { calls }) => {
      const permitted = finish === null ? finishRequired === 'optional' : permitsToolCalls(finish)
      return calls === 'release' && !permitted
    })
    expect(wrong).toEqual([])
  })

  test('calls are never released beside an event that could not be read, or a refusal', () => {
    expect(violations(({ skipped, hasRefusal }, { calls }) => calls === 'release' && (skipped || hasRefusal))).toEqual(
      [],
    )
  })

  test('strict releases calls only with an end', () => {
    const wrong = violations(
      ({ policy, terminal, terminalRequired }, { calls }) =>
        policy === 'strict' && calls === 'release' && !terminal && terminalRequired === 'required',
    )
    expect(wrong).toEqual([])
  })

  test('strict releases no call that was repaired', () => {
    expect(
      violations(({ policy, repaired }, { calls }) => policy === 'strict' && repaired && calls === 'release'),
    ).toEqual([])
  })

  test('compat is degraded by a repair', () => {
    expect(violations(({ repaired }, { outcome }) => repaired && outcome === 'completed')).toEqual([])
  })

  test('there is a code exactly where calls are not released, and a bad outcome refuses them', () => {
    const bad: readonly Outcome[] = ['failed', 'incomplete', 'refused', 'truncated']
    expect(violations((_, { calls, code }) => (code === null) !== (calls === 'release'))).toEqual([])
    expect(violations((_, { calls, outcome }) => (calls === 'refuse') !== bad.includes(outcome))).toEqual([])
  })

  test('strict is never milder than compat', () => {
    expect(
      violations((evidence) => rank({ ...evidence, policy: 'strict' }) > rank({ ...evidence, policy: 'compat' })),
    ).toEqual([])
  })
})

describe('worstOutcome', () => {
  test('the order, worst first', () => {
    expect(OUTCOMES_WORST_FIRST).toEqual([
      'cancelled',
      'failed',
      'incomplete',
      'refused',
      'truncated',
      'degraded',
      'empty',
      'completed',
    ])
  })

  test('gives the worse of any two, whatever their order', () => {
    for (const [at, worse] of OUTCOMES_WORST_FIRST.entries()) {
      for (const better of OUTCOMES_WORST_FIRST.slice(at)) {
        expect(worstOutcome([better, worse])).toBe(worse)
        expect(worstOutcome([worse, better, better])).toBe(worse)
      }
    }
  })
})
