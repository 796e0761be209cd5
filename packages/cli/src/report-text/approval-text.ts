import type { Approval } from '@streamfold/tools'
import { clip } from 'streamfold/json'
import { fit } from './display-width.ts'
import { timeText } from './execution-text.ts'
import type { Theme } from './theme.ts'

const LABEL_COLUMNS = 11

/** What each call wants, apart from each other. */
export function approvalsText(approvals: readonly Approval[], theme: Theme): string {
  return approvals.map((approval) => approvalText(approval, theme)).join('\n')
}

/** What a person is asked, and what they said. What would be done is never cut short: nobody can agree to half of it. */
export function approvalText(approval: Approval, { columns, paint }: Theme): string {
  const { approvalId, tool, callId, runId, turn, choice, shownJson, reason, expiresAt, decision, decidedBy } = approval
  const label = (name: string): string => paint('gray', name.padEnd(LABEL_COLUMNS))
  const line = (name: string, text: string): string => `${label(name)}${fit(text, columns - LABEL_COLUMNS)}`
  const lines = [
    line('id', approvalId),
    line('tool', tool),
    `${label('arguments')}${clip(shownJson, Infinity)}`,
    line('call', `${callId} of ${runId}, turn ${turn}, choice ${choice}`),
    line('asked', reason),
    line('until', timeText(expiresAt)),
  ]
  if (decision !== null) {
    const said = decision === 'allow' ? 'approved' : 'denied'
    lines.push(line('answer', `${said}${decidedBy === null ? '' : ` by ${decidedBy}`}`))
  }
  return `${lines.join('\n')}\n`
}
