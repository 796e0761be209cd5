import { clip } from 'streamfold/json'
import type { CallContext, Tool } from '../define/tool.ts'
import type { GateEvidence } from '../gate.ts'
import { noSuchToolMessage } from './model-message.ts'
import { rulesFor } from './policy.ts'
import type { Policy, PolicyRule } from './policy.ts'
import { Refused } from './refused.ts'
import { shadowEvidence } from './shadow.ts'

/** The tool of this name and the enforced rules about it, if there is one and this tenant and workflow may call it. */
export function allowedTool(
  policy: Policy,
  tools: ReadonlyMap<string, Tool>,
  name: string,
  context: CallContext,
  evidence: GateEvidence[],
): { tool: Tool; rules: readonly PolicyRule[] } {
  const rulesOf = (tool: Tool): readonly PolicyRule[] => rulesFor(policy, tool, context.tenant, context.workflow)
  const tool = tools.get(name)
  const rules = tool === undefined ? [] : rulesOf(tool)
  for (const rule of rules) {
    if (rule.shadow === true) evidence.push(shadowEvidence('allow_list', rule.decision, rule.reason ?? 'a rule'))
  }
  if (tool !== undefined && isAllowed(rules)) return { tool, rules: rules.filter(({ shadow }) => shadow !== true) }

  const allowed = [...tools.values()].filter((one) => isAllowed(rulesOf(one)))
  const message = noSuchToolMessage(
    name,
    allowed.map((one) => one.name),
  )
  if (tool === undefined) {
    throw new Refused('allow_list', 'unknown_tool', 'validate', message, `no tool ${JSON.stringify(clip(name, 80))}`)
  }
  const denying = rules.find((rule) => rule.shadow !== true && rule.decision === 'deny')
  const why = denying === undefined ? 'no rule names it' : (denying.reason ?? 'a rule denies it')
  const detail = `${why} (tenant ${clip(context.tenant, 80)}, workflow ${clip(context.workflow ?? 'none', 80)})`
  throw new Refused('allow_list', 'tool_not_allowed', 'authorize', message, detail)
}

function isAllowed(rules: readonly PolicyRule[]): boolean {
  const enforced = rules.filter(({ shadow }) => shadow !== true)
  return enforced.length > 0 && enforced.every(({ decision }) => decision !== 'deny')
}
