import type { JsonObject, ReadyToolCall } from 'streamfold'
import { clip } from 'streamfold/json'
import type { CallContext, GateContext, Tool } from '../define/tool.ts'
import type { Gate, GateCheck, GateEvidence, GateVerdict, StoredCall } from '../gate.ts'
import { nameOf } from '../thrown.ts'
import { canonicalJson } from '../validate/canonical-json.ts'
import type { ValidationResult } from '../validate/validator.ts'
import { allowedTool } from './allow-list.ts'
import { approvalNeed, operationIdOf } from './approval-need.ts'
import { boundedAnswer } from './bounded-answer.ts'
import { findRefusedResource } from './check-resources.ts'
import { schemaMessage } from './model-message.ts'
import { decide } from './permission.ts'
import { requireSoundPolicy } from './policy.ts'
import type { Policy, PolicyRequest } from './policy.ts'
import { argumentsTextOf, isWithin, readInput } from './read-input.ts'
import { answerOf, cancelled, CHECK_FAILED_MESSAGE, Refused } from './refused.ts'
import type { Ask } from './refused.ts'
import type { Resource } from './resource.ts'
import type { ResolveAddresses } from './url-boundary.ts'

export interface GateOptions {
  readonly tools: readonly Tool[]
  readonly policy: Policy
  /** Greatest size of one call's arguments in UTF-8 bytes, where the tool sets none. Default 1 MiB. */
  readonly maxArgumentBytes?: number
  /** Nesting of arrays and objects in arguments. Default 64. */
  readonly maxDepth?: number
  /** Time that one function of a tool or a policy may take, in milliseconds. Default 10 s. */
  readonly checkTimeoutMs?: number
  /**
   * Arguments that a named repair put right: `refuse-unsafe` (default) runs them unless the tool is `unsafe`, `refuse` never
   * does, `allow` always.
   */
  readonly repairedArguments?: 'refuse' | 'refuse-unsafe' | 'allow'
  /** How host names become addresses. Default: the system's resolver. */
  readonly resolveAddresses?: ResolveAddresses
}

const DEFAULT_MAX_ARGUMENT_BYTES = 1024 * 1024
const DEFAULT_MAX_DEPTH = 64
const DEFAULT_CHECK_TIMEOUT_MS = 10_000

/**
 * The gate: every check between a released call and its execution, in a fixed order; the first that fails decides. Deny goes
 * before ask and ask before allow; a tool that no rule names is not allowed; what throws or does not answer is a no.
 *
 * @throws TypeError for a policy that is missing or would not do what it says, for tools that are no list, and for two of one name
 */
export function createGate(options: GateOptions): Gate {
  if (!Array.isArray(options.tools)) throw new TypeError('tools is missing: pass a list of what defineTool gives')
  // A Map: a tool's name comes from the model, and must not find what an object inherits.
  const tools = new Map<string, Tool>()
  for (const tool of options.tools) {
    if (tools.has(tool.name)) throw new TypeError(`two tools have the name ${tool.name}`)
    tools.set(tool.name, tool)
  }
  requireSoundPolicy(options.policy, new Set(tools.keys()))
  return {
    check: (call, context) => judge(options, tools, { call, fresh: true }, context),
    recheck: (stored, context) => judge(options, tools, { call: stored, fresh: false }, context),
  }
}

type Subject =
  | { readonly fresh: true; readonly call: ReadyToolCall }
  | { readonly fresh: false; readonly call: StoredCall }

async function judge(
  options: GateOptions,
  tools: ReadonlyMap<string, Tool>,
  subject: Subject,
  context: CallContext,
): Promise<GateVerdict> {
  const evidence: GateEvidence[] = []
  try {
    return await pass(options, tools, subject, context, evidence)
  } catch (error) {
    const refused =
      error instanceof Refused
        ? error
        : new Refused('schema', 'check_failed', 'validate', CHECK_FAILED_MESSAGE, `unexpected: ${nameOf(error)}`)
    evidence.push({ check: refused.check, outcome: 'fail', detail: refused.detail })
    return { kind: 'refuse', code: refused.code, phase: refused.phase, message: refused.message, evidence }
  }
}

async function pass(
  options: GateOptions,
  tools: ReadonlyMap<string, Tool>,
  subject: Subject,
  context: CallContext,
  evidence: GateEvidence[],
): Promise<GateVerdict> {
  const { policy } = options
  const { call } = subject
  const noted = (check: GateCheck, outcome: GateEvidence['outcome'] = 'pass', detail?: string): void => {
    evidence.push({ check, outcome, ...(detail === undefined ? {} : { detail }) })
  }
  const ask: Ask = (check, phase, what, question) =>
    answerOf(
      boundedAnswer(question, options.checkTimeoutMs ?? DEFAULT_CHECK_TIMEOUT_MS, context.signal),
      check,
      phase,
      what,
    )

  requireNotCancelled(context, 'allow_list')
  const { tool, rules } = allowedTool(policy, tools, call.name, context, evidence)
  noted('allow_list')

  if (subject.fresh) {
    requireFreshId(subject.call, context)
    noted('call_id')
  }

  const text = subject.fresh ? argumentsTextOf(subject.call) : subject.call.inputJson
  const maxBytes = tool.maxArgumentBytes ?? options.maxArgumentBytes ?? DEFAULT_MAX_ARGUMENT_BYTES
  if (!isWithin(text, maxBytes)) {
    const message = `${tool.name} was not run: its arguments are larger than ${maxBytes} bytes. Send less at once.`
    throw new Refused('size', 'argument_limit_exceeded', 'call', message, `more than ${maxBytes} bytes`)
  }
  noted('size')

  if (subject.fresh) requireRepairsAllowed(subject.call, tool, options.repairedArguments ?? 'refuse-unsafe')
  const read = readInput(text, options.maxDepth ?? DEFAULT_MAX_DEPTH)
  if (!read.ok) {
    const message = `${tool.name} was not run: its arguments can't be read.\n${clip(read.message, 300)}`
    throw new Refused('strict_json', read.code, 'call', message, read.code)
  }
  const { input, inputJson, argumentsHash } = read
  noted('strict_json')

  const validated = await ask<ValidationResult>('schema', 'validate', 'the schema', () =>
    tool.validator.validate(input),
  )
  if (!validated.ok) {
    const message = schemaMessage(tool.name, validated.issues)
    const detail = `${validated.issues.length} issue(s), first at ${clip(validated.issues[0]?.path || '(top)', 160)}`
    throw new Refused('schema', 'schema_violation', 'validate', message, detail)
  }
  const args = validated.value
  noted('schema')

  const gateContext = gateContextOf(call.callId, context)
  const resources = await checkResources(options, tool, args, gateContext, ask)
  noted('resources', tool.resources === undefined ? 'not_applicable' : 'pass')

  const request: PolicyRequest = {
    tool: { name: tool.name, description: tool.description, effect: tool.effect },
    args,
    input,
    changed: !isSameJson(args, inputJson),
    argumentsHash,
    resources,
    context: gateContext,
  }
  const decision = await decide(policy, tool, rules, request, evidence, ask)
  noted('permission')

  const operationId = await operationIdOf(tool, args, gateContext, ask)
  const approval = await approvalNeed(policy, tool, decision, request, operationId, ask)
  noted('approval', approval === undefined ? 'not_applicable' : 'ask', approval?.reason)
  requireNotCancelled(context, 'approval')
  return {
    kind: 'pass',
    tool,
    args,
    input,
    inputJson,
    argumentsHash,
    ...(operationId === undefined ? {} : { operationId }),
    ...(approval === undefined ? {} : { approval }),
    policyRevision: policy.revision,
    evidence,
  }
}

function requireNotCancelled(context: CallContext, check: GateCheck): void {
  if (context.signal?.aborted === true) throw cancelled(check)
}

function requireFreshId(call: ReadyToolCall, context: CallContext): void {
  if (typeof call.callId !== 'string' || call.callId.trim() === '') {
    throw new Refused('call_id', 'missing_call_id', 'call', 'The call was not run: it has no id.', 'no id')
  }
  if (context.usedCallIds?.has(call.callId) === true) {
    const message = 'The call was not run: another call of the same answer has its id.'
    throw new Refused('call_id', 'duplicate_call', 'call', message, 'the id was used before in this choice')
  }
}

function requireRepairsAllowed(
  call: ReadyToolCall,
  tool: Tool,
  repaired: NonNullable<GateOptions['repairedArguments']>,
): void {
  if ((call.repairs?.length ?? 0) === 0 || repaired === 'allow') return
  if (repaired === 'refuse-unsafe' && tool.effect !== 'unsafe') return
  const message = `${tool.name} was not run: its arguments were not valid JSON. Send them again as one JSON object.`
  throw new Refused('strict_json', 'arguments_invalid', 'call', message, `repaired: ${call.repairs?.join(', ')}`)
}

async function checkResources(
  options: GateOptions,
  tool: Tool,
  args: unknown,
  context: GateContext,
  ask: Ask,
): Promise<readonly Resource[]> {
  if (tool.resources === undefined) return []
  const resources = await ask('resources', 'authorize', 'resources()', () => tool.resources?.(args, context) ?? [])
  if (!Array.isArray(resources)) {
    throw new Refused('resources', 'check_failed', 'authorize', CHECK_FAILED_MESSAGE, 'resources() gave no list')
  }
  const refused = await ask('resources', 'authorize', 'the check of the resources', () =>
    findRefusedResource(resources as readonly Resource[], options.resolveAddresses),
  )
  if (refused === undefined) return resources as readonly Resource[]
  const message = `${tool.name} was not run: the ${refused.kind} it would use is not allowed: ${refused.reason}.`
  const detail = `resource ${refused.index} (${clip(refused.kind, 20)}): ${refused.reason}`
  throw new Refused('resources', 'resource_denied', 'authorize', message, detail)
}

function gateContextOf(callId: string, context: CallContext): GateContext {
  const { tenant, workflow, runId, turn, principal } = context
  return {
    tenant,
    runId,
    turn,
    callId,
    ...(workflow === undefined ? {} : { workflow }),
    ...(principal === undefined ? {} : { principal }),
  }
}

function isSameJson(args: unknown, inputJson: string): boolean {
  try {
    return canonicalJson(args as JsonObject) === inputJson
  } catch {
    return false
  }
}
