import { clip } from 'streamfold/json'
import type { Tool } from '../define/tool.ts'
import type { GateEvidence } from '../gate.ts'
import { isDecision, strictest } from './decision.ts'
import type { Decision } from './decision.ts'
import { missingRight } from './policy.ts'
import type { Policy, PolicyRequest, PolicyRule } from './policy.ts'
import { CHECK_FAILED_MESSAGE, Refused } from './refused.ts'
import type { Ask } from './refused.ts'
import { shadowAnswer } from './shadow.ts'

/** Rights, the tool's own say and the policy's hooks; gives the strictest of what is not a deny. */
export async function decide(
  policy: Policy,
  tool: Tool,
  rules: readonly PolicyRule[],
  request: PolicyRequest,
  evidence: GateEvidence[],
  ask: Ask,
): Promise<Decision> {
  for (const { requires } of rules) {
    const missing = missingRight(requires ?? [], request.context.principal)
    if (missing === undefined) continue
    const message = `${tool.name} was not run: the right to do this is missing.`
    const detail = `${missing.who === 'nobody' ? 'no principal' : `the ${missing.who}`} has no ${clip(missing.right, 80)}`
    throw new Refused('permission', 'not_authorized', 'authorize', message, detail)
  }

  const decisions: Decision[] = rules.map(({ decision, reason }) => ({
    decision,
    reason: reason ?? 'a rule of the policy',
  }))
  if (tool.authorize !== undefined) {
    decisions.push(
      requireDecision(
        await ask('permission', 'authorize', 'authorize()', () => tool.authorize?.(request.args, request.context)),
        'authorize()',
      ),
    )
  }
  for (const hook of policy.hooks ?? []) {
    const what = `the hook ${clip(hook.name, 80)}`
    if (hook.shadow === true) {
      evidence.push(await shadowAnswer(what, () => ask('permission', 'authorize', what, () => hook.decide(request))))
      continue
    }
    const said = await ask('permission', 'authorize', what, () => hook.decide(request))
    if (said !== undefined) decisions.push(requireDecision(said, what))
  }

  const winner = strictest(decisions) ?? { decision: 'deny', reason: 'nothing allows it' }
  if (winner.decision !== 'deny') return winner
  const told = winner.tellModel === undefined ? 'It is not allowed.' : clip(winner.tellModel, 300)
  throw new Refused(
    'permission',
    'not_authorized',
    'authorize',
    `${tool.name} was not run. ${told}`,
    clip(winner.reason, 300),
  )
}

function requireDecision(value: unknown, what: string): Decision {
  if (isDecision(value)) return value
  throw new Refused('permission', 'check_failed', 'authorize', CHECK_FAILED_MESSAGE, `${what} gave no decision`)
}
