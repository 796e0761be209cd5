import { expect } from 'vitest'
import type { StreamSnapshot } from '../../src/accumulate/index.ts'
import { FINDINGS } from '../../src/engine/index.ts'
import type { StreamReport } from '../../src/engine/index.ts'
import type { CallIntent, Intent } from './intent.ts'

/** Compares a report, and what the snapshot keeps beside it, with what was decided by hand. */
export function checkIntent(intent: Intent, report: StreamReport, snapshot: StreamSnapshot): void {
  const { outcome, error, choices, usage, metadata, found = [], absent = [], streaming } = intent
  const codes = report.diagnostics.map(({ code }) => code)
  const unlisted = codes.filter((code) => FINDINGS[code].severity !== 'info' && !found.includes(code))
  expect({
    outcome: report.outcome,
    error: report.error && {
      code: report.error.code,
      retryable: report.error.retryable,
      status: error?.status === undefined ? undefined : report.error.status,
      retryAfterMs: error?.retryAfterMs === undefined ? undefined : report.error.retryAfterMs,
    },
    choices: report.choices.map((choice, i) => ({
      text: choice.text,
      reasoning: choice.reasoning,
      refusal: choice.refusal,
      calls: choice.toolCalls.map((call, k): CallIntent => {
        const stated = choices[i]?.calls?.[k]?.[1] !== undefined
        return [call.name, stated ? call.argumentsText : undefined, call.state, call.code]
      }),
      finish: [choice.finish.reason, choice.finish.raw],
    })),
    usage: report.usage && [report.usage.inputTokens, report.usage.outputTokens],
    missing: found.filter((code) => !codes.includes(code)),
    unwanted: [...unlisted, ...absent.filter((code) => codes.includes(code))],
    streaming: streaming && report.timing.streaming,
  }).toEqual({
    outcome,
    error: error === undefined ? null : { status: undefined, retryAfterMs: undefined, ...error },
    choices: choices.map(({ text = '', reasoning = '', refusal = '', calls = [], finish }) => ({
      text,
      reasoning,
      refusal,
      calls,
      finish,
    })),
    usage: usage ?? null,
    missing: [],
    unwanted: [],
    streaming,
  })
  if (metadata !== undefined) expect(snapshot.metadata).toMatchObject(metadata)
  for (const [i, choice] of choices.entries()) {
    if (choice.metadata !== undefined) expect(snapshot.choices[i]?.metadata).toMatchObject(choice.metadata)
  }
}
