import type { JsonObject } from 'streamfold'
import type { Effect, GateContext, Tool } from '../define/tool.ts'
import type { Decision } from './decision.ts'
import type { Actor, Principal } from './principal.ts'
import type { Resource } from './resource.ts'

/**
 * Who may call what. Rules are plain data; hooks are functions for what data can't say. All that apply are combined as deny >
 * ask > allow, and a tool that no rule names is not allowed.
 */
export interface Policy {
  /** Kept with every decision. Change it whenever the policy changes. */
  readonly revision: string
  readonly rules: readonly PolicyRule[]
  readonly hooks?: readonly PolicyHook[]
  /**
   * What happens to an `unsafe` tool that declares neither `operationId` nor `approve`: a model that asks again really does it
   * again. Default `ask`.
   */
  readonly unsafeWithoutOperationId?: Decision['decision']
  /** Time a person has to answer when nothing else says, in milliseconds, at most a year. Default one hour. */
  readonly approvalExpiresInMs?: number
}

export interface PolicyRule {
  /** Absent: every tenant. */
  readonly tenants?: readonly string[]
  /** Absent: every workflow, and runs that name none. */
  readonly workflows?: readonly string[]
  /** Names, compared exactly, or `'*'` for every tool there is. */
  readonly tools: readonly string[] | '*'
  /** Absent: every effect. */
  readonly effects?: readonly Effect[]
  readonly decision: Decision['decision']
  /** Rights that the user, and the service account where there is one, must all have. Without a principal nobody has any. */
  readonly requires?: readonly string[]
  /** For the audit, and for the person who is asked. */
  readonly reason?: string
  /** Looked at and noted, without any effect. */
  readonly shadow?: boolean
}

export interface PolicyRequest {
  readonly tool: Pick<Tool, 'name' | 'description' | 'effect'>
  /** What the tool will get. */
  readonly args: unknown
  /** What the model sent. */
  readonly input: JsonObject
  /** Validation changed something (a default, a conversion): `args` is not `input`. */
  readonly changed: boolean
  readonly argumentsHash: string
  readonly resources: readonly Resource[]
  readonly context: GateContext
}

export interface PolicyHook {
  /** For the audit. */
  readonly name: string
  /** Looked at and noted, without any effect. */
  readonly shadow?: boolean
  /** `undefined` is no opinion. What throws, or does not answer in time, is a deny. */
  decide(request: PolicyRequest): Decision | undefined | Promise<Decision | undefined>
}

/** The rules that speak about this tool for this tenant and workflow. */
export function rulesFor(
  policy: Policy,
  tool: Tool,
  tenant: string,
  workflow: string | undefined,
): readonly PolicyRule[] {
  return policy.rules.filter(
    (rule) =>
      (rule.tenants === undefined || rule.tenants.includes(tenant)) &&
      (rule.workflows === undefined || (workflow !== undefined && rule.workflows.includes(workflow))) &&
      (rule.tools === '*' || rule.tools.includes(tool.name)) &&
      (rule.effects === undefined || rule.effects.includes(tool.effect)),
  )
}

/** The first right that somebody who acts here lacks; `undefined` when all have all. */
export function missingRight(
  requires: readonly string[],
  principal: Principal | undefined,
): { readonly right: string; readonly who: 'user' | 'service account' | 'nobody' } | undefined {
  const actors: readonly (readonly ['user' | 'service account', Actor | undefined])[] = [
    ['user', principal?.user],
    ['service account', principal?.serviceAccount],
  ]
  const present = actors.filter(([, actor]) => actor !== undefined)
  for (const right of requires) {
    if (present.length === 0) return { right, who: 'nobody' }
    for (const [who, actor] of present) if (actor?.permissions.includes(right) !== true) return { right, who }
  }
  return undefined
}

/** A year. */
export const LONGEST_APPROVAL_MS: number = 365 * 24 * 60 * 60 * 1000

const DECISIONS: readonly string[] = ['allow', 'ask', 'deny']

const LISTS = ['tenants', 'workflows', 'effects', 'requires'] as const
const RULE_KEYS: ReadonlySet<string> = new Set([...LISTS, 'tools', 'decision', 'reason', 'shadow'])
const POLICY_KEYS: ReadonlySet<string> = new Set([
  'revision',
  'rules',
  'hooks',
  'unsafeWithoutOperationId',
  'approvalExpiresInMs',
])

/** `tenant` in the place of `tenants` would make a rule speak for everybody. */
function refuseUnknownKeys(what: string, value: object, known: ReadonlySet<string>): void {
  const unknown = Object.keys(value).find((key) => !known.has(key))
  if (unknown !== undefined) throw new TypeError(`${what} has no field ${JSON.stringify(unknown)}`)
}

/** A text in the place of a list would match every part of it. */
function requireNames(what: string, value: unknown): void {
  if (value === undefined || (Array.isArray(value) && value.every((name) => typeof name === 'string'))) return
  throw new TypeError(`${what} must be a list of names`)
}

/**
 * Refuses a policy that would not do what it seems to say: a misspelt tool in a rule that denies would deny nothing.
 *
 * @throws TypeError
 */
export function requireSoundPolicy(policy: Policy, toolNames: ReadonlySet<string>): void {
  if (typeof policy !== 'object' || (policy as unknown) === null) {
    throw new TypeError('policy is missing: pass { revision, rules }; a tool that no rule names is not allowed')
  }
  if (typeof policy.revision !== 'string' || policy.revision === '') {
    throw new TypeError('policy: revision must be a string that changes whenever the policy does')
  }
  refuseUnknownKeys('policy', policy, POLICY_KEYS)
  const { approvalExpiresInMs, unsafeWithoutOperationId } = policy
  if (approvalExpiresInMs !== undefined && !(approvalExpiresInMs > 0 && approvalExpiresInMs <= LONGEST_APPROVAL_MS)) {
    throw new TypeError(
      `policy: approvalExpiresInMs must be a positive number, at most ${LONGEST_APPROVAL_MS} (a year), not ${approvalExpiresInMs}`,
    )
  }
  if (unsafeWithoutOperationId !== undefined && !DECISIONS.includes(unsafeWithoutOperationId)) {
    throw new TypeError('policy: unsafeWithoutOperationId must be allow, ask or deny')
  }
  if (!Array.isArray(policy.rules)) throw new TypeError('policy: rules must be a list')
  for (const [index, rule] of policy.rules.entries()) {
    if (!DECISIONS.includes(rule.decision)) {
      throw new TypeError(`policy: rules[${index}].decision must be allow, ask or deny, not ${String(rule.decision)}`)
    }
    refuseUnknownKeys(`policy: rules[${index}]`, rule, RULE_KEYS)
    for (const name of LISTS) requireNames(`policy: rules[${index}].${name}`, rule[name])
    if (rule.shadow !== undefined && typeof rule.shadow !== 'boolean') {
      throw new TypeError(`policy: rules[${index}].shadow must be true or false`)
    }
    if (rule.tools === '*') continue
    if (!Array.isArray(rule.tools)) throw new TypeError(`policy: rules[${index}].tools must be a list of names, or '*'`)
    const unknown = rule.tools.find((name: string) => !toolNames.has(name))
    if (unknown !== undefined) {
      throw new TypeError(`policy: rules[${index}] names the tool ${JSON.stringify(unknown)}, which is not defined`)
    }
  }
}
