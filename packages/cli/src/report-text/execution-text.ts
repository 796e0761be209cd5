import type { Execution, ExecutionDetails, RefusedCall } from '@streamfold/tools'
import { clip } from 'streamfold/json'
import { displayWidth, fit, padEnd } from './display-width.ts'
import type { Theme } from './theme.ts'

/** Enough of a key to name it again. */
const KEY_CHARS = 12
const MAX_NAME_COLUMNS = 30
const LABEL_COLUMNS = 11

/** A line for each execution. */
export function executionListText(executions: readonly Execution[], { columns, paint }: Theme): string {
  const rows = [
    ['key', 'tool', 'effect', 'state', 'claims', 'created'],
    ...executions.map(({ key, tool, effect, state, code, fence, createdAt }) => [
      shortKey(key),
      fit(tool, MAX_NAME_COLUMNS),
      effect,
      code === null || code === 'outcome_unknown' ? state : `${state} (${fit(code, MAX_NAME_COLUMNS)})`,
      String(fence),
      timeText(createdAt),
    ]),
  ]
  return `${table(rows, columns)
    .map((line, at) => (at === 0 ? paint('gray', line) : line))
    .join('\n')}\n`
}

/** Each call that was not run and will not be, and below it why. */
export function refusedListText(refused: readonly RefusedCall[], { columns, paint }: Theme): string {
  const [head = '', ...lines] = table(
    [
      ['call', 'tool', 'state', 'by', 'created'],
      ...refused.map(({ callId, tool, state, code, by, createdAt }) => [
        fit(callId, MAX_NAME_COLUMNS),
        fit(tool, MAX_NAME_COLUMNS),
        code === null || code === state ? state : `${state} (${fit(code, MAX_NAME_COLUMNS)})`,
        fit(by ?? '-', MAX_NAME_COLUMNS),
        timeText(createdAt),
      ]),
    ],
    columns,
  )
  const why = refused.map(({ reason, note }) => [reason, note].filter((said) => said !== null).join(': '))
  const told = lines.flatMap((line, at) => (why[at] === '' ? [line] : [line, `  ${fit(why[at]!, columns - 2)}`]))
  return `${[paint('gray', head), ...told].join('\n')}\n`
}

/** Everything there is about one execution. */
export function executionDetailsText(details: ExecutionDetails, { columns, paint }: Theme): string {
  const { execution, attempts, calls, trail } = details
  const { key, tool, effect, state, code, message, inputJson, result, truncated, argumentsHash, prunedAt } = execution
  const room = columns - LABEL_COLUMNS
  const line = (label: string, text: string): string =>
    `${paint('gray', label.padEnd(LABEL_COLUMNS))}${fit(text, room)}`
  const lines = [line('key', key), line('tool', `${tool} (${effect})`)]
  lines.push(line('state', code === null ? state : `${state} (${code})`))
  if (message !== null) lines.push(line('message', message))
  if (prunedAt !== null) lines.push(line('pruned', timeText(prunedAt)))
  else lines.push(line('arguments', inputJson))
  lines.push(line('hash', argumentsHash))
  if (result !== null) lines.push(line('result', truncated ? `${result} (cut short)` : result))
  for (const { runId, turn, choice, callId, state: stood } of calls) {
    lines.push(line('call', `${callId} of ${runId}, turn ${turn}, choice ${choice}: ${stood}`))
  }
  for (const { fence, owner, startedAt, endedAt, outcome, lateOutcome } of attempts) {
    const end = outcome === null ? 'under way' : `${outcome} ${endedAt === null ? '' : timeText(endedAt)}`.trimEnd()
    const late = lateOutcome === null ? '' : `; said later: ${lateOutcome}`
    lines.push(line(`claim ${fence}`, `${timeText(startedAt)} ${end}${late}, by ${fit(owner, 40)}`))
  }
  for (const { at, event, state: moved, code: why, actor, detail } of trail) {
    const facts = [
      moved === event ? undefined : (moved ?? undefined),
      why ?? undefined,
      actor === null ? undefined : `by ${actor}`,
      detail ?? undefined,
    ]
    const said = facts.filter((fact) => fact !== undefined).map((fact) => clip(fact, 200))
    lines.push(line('trail', `${timeText(at)} ${event}${said.length === 0 ? '' : `: ${said.join(', ')}`}`))
  }
  return `${lines.join('\n')}\n`
}

/** Without the kind in front of the hash. */
function shortKey(key: string): string {
  return key.slice(key.indexOf(':') + 1).slice(0, KEY_CHARS)
}

/** To the second, in UTC. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

function table(rows: readonly (readonly string[])[], columns: number): readonly string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => displayWidth(row[column]!))))
  return rows.map((row) => fit(row.map((cell, column) => padEnd(cell, widths[column]!)).join('  '), columns).trimEnd())
}
