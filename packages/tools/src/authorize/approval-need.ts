import type { JsonValue } from 'streamfold'
import { clip } from 'streamfold/json'
import type { GateContext, Tool } from '../define/tool.ts'
import type { ApprovalNeed } from '../gate.ts'
import { canonicalJson } from '../validate/canonical-json.ts'
import type { Decision } from './decision.ts'
import { LONGEST_APPROVAL_MS } from './policy.ts'
import type { Policy, PolicyRequest } from './policy.ts'
import { CHECK_FAILED_MESSAGE, Refused } from './refused.ts'
import type { Ask } from './refused.ts'

const DEFAULT_APPROVAL_EXPIRES_MS = 60 * 60 * 1000

/** Canonical JSON of what the tool says the call is about; `undefined` where it names nothing: null, or an empty text. */
export async function operationIdOf(
  tool: Tool,
  args: unknown,
  context: GateContext,
  ask: Ask,
): Promise<string | undefined> {
  if (tool.operationId === undefined) return undefined
  return ask('permission', 'authorize', 'operationId()', () => {
    // Else all calls that leave the id out would be one operation, done once for ever.
    const named = tool.operationId?.(args, context) ?? ''
    return named === '' ? undefined : canonicalJson(named)
  })
}

/** Whether a person is to be asked, and what. Asked for by the policy, the tool, or by default for what can't be undone. */
export async function approvalNeed(
  policy: Policy,
  tool: Tool,
  decision: Decision,
  request: PolicyRequest,
  operationId: string | undefined,
  ask: Ask,
): Promise<ApprovalNeed | undefined> {
  const reason = await approvalReason(policy, tool, decision, request, operationId, ask)
  if (reason === undefined) return undefined
  const shown =
    tool.redact === undefined
      ? request.input
      : await ask('approval', 'authorize', 'redact()', async () => {
          // Code without types may answer later: shown empty, it would be agreed to unseen.
          const shownLater: unknown = tool.redact?.(request.input)
          return asJson(await shownLater)
        })
  const expiresInMs =
    (decision.decision === 'ask' ? decision.expiresInMs : undefined) ??
    policy.approvalExpiresInMs ??
    DEFAULT_APPROVAL_EXPIRES_MS
  if (!(expiresInMs > 0 && expiresInMs <= LONGEST_APPROVAL_MS)) {
    throw new Refused('approval', 'check_failed', 'authorize', CHECK_FAILED_MESSAGE, 'the time to answer is no time')
  }
  return {
    callId: request.context.callId,
    tool: tool.name,
    argumentsHash: request.argumentsHash,
    reason: clip(reason, 300),
    shown,
    expiresInMs: Math.ceil(expiresInMs),
  }
}

/** What a person is shown is stored as JSON. @throws {TypeError} for what can't be */
function asJson(shown: unknown): JsonValue {
  const text: string | undefined = JSON.stringify(shown ?? null)
  if (text === undefined) throw new TypeError('what is to be shown is no JSON')
  return JSON.parse(text) as JsonValue
}

async function approvalReason(
  policy: Policy,
  tool: Tool,
  decision: Decision,
  request: PolicyRequest,
  operationId: string | undefined,
  ask: Ask,
): Promise<string | undefined> {
  if (decision.decision === 'ask') return decision.reason
  const { approve } = tool
  if (typeof approve === 'function') {
    const needed: unknown = await ask('approval', 'authorize', 'approve()', () =>
      approve(request.args, request.context),
    )
    // Only a clear no is a no.
    return needed === false ? undefined : 'the tool asks for approval of this call'
  }
  if (approve === 'always') return 'the tool asks for approval of every call'
  if (approve === 'never' || tool.effect !== 'unsafe' || operationId !== undefined) return undefined
  const fallback = policy.unsafeWithoutOperationId ?? 'ask'
  if (fallback === 'allow') return undefined
  if (fallback === 'ask') return 'a second run would do it again, and the tool names no operation to recognise one by'
  const message = `${tool.name} was not run. It is not allowed.`
  throw new Refused('approval', 'not_authorized', 'authorize', message, 'unsafe, without operationId')
}
