import type { FaultCode, FinishReason, Outcome, Phase, ReadyToolCall, ReportToolCall, TokenUsage } from 'streamfold'
import type { AssistantMessage, RequestedCall } from './message.ts'
import type { ModelAnswer } from './model.ts'
import type { AnswerReading } from './read-answer.ts'

/** A model's answer as the ledger keeps it: enough to go on from after a crash. */
export interface StoredAnswer {
  readonly v: 1
  readonly message: AssistantMessage
  /** The calls to run, as released. */
  readonly calls: readonly ReadyToolCall[]
  /** Calls that were not released, and why: the model is told. */
  readonly refused: readonly RefusedCall[]
  readonly outcome: Outcome
  readonly finish: FinishReason | null
  readonly usage: TokenUsage | null
}

export interface RefusedCall {
  readonly callId: string
  readonly ordinal: number
  readonly name: string
  readonly code: FaultCode
  readonly phase: Phase
  readonly reason: string
}

/** Calls with these codes are no calls for anybody here to answer. */
const NOT_OURS: ReadonlySet<FaultCode | null> = new Set<FaultCode>(['provider_executed', 'duplicate_call'])

/** The answer in choice 0 of a stream that ended. */
export function storedAnswer(answer: ModelAnswer, { report, calls }: AnswerReading): StoredAnswer {
  const choice = report.choices.find(({ index }) => index === 0)
  const asked = (choice?.toolCalls ?? []).filter((call) => !call.providerExecuted && !NOT_OURS.has(call.code))
  const released = new Set(calls.map(({ callId }) => callId))
  const requested = asked.map((call, ordinal) => ({ call, ordinal }))
  const snapshot = answer.snapshot?.()
  return {
    v: 1,
    message: {
      role: 'assistant',
      text: choice?.text ?? '',
      ...(choice === undefined || choice.reasoning === '' ? {} : { reasoning: choice.reasoning }),
      toolCalls: requested.map(({ call, ordinal }) => requestedCall(call, ordinal)),
      ...(snapshot === undefined ? {} : { snapshot, api: report.api }),
    },
    calls,
    refused: requested
      .filter(({ call }) => !released.has(call.callId))
      .map(({ call, ordinal }) => refusedCall(call, ordinal)),
    outcome: report.outcome ?? 'incomplete',
    finish: choice?.finish.reason ?? null,
    usage: report.usage,
  }
}

export function encodeAnswer(answer: StoredAnswer): string {
  return JSON.stringify(answer)
}

/** @throws TypeError for a text that this version did not write */
export function decodeAnswer(text: string): StoredAnswer {
  const stored = JSON.parse(text) as Partial<StoredAnswer> | null
  if (stored?.v !== 1)
    throw new TypeError('the ledger holds an answer that was written by another version of streamfold')
  return stored as StoredAnswer
}

function requestedCall(call: ReportToolCall, ordinal: number): RequestedCall {
  return {
    callId: call.callId,
    ...(call.providerCallId === undefined ? {} : { providerCallId: call.providerCallId }),
    ordinal,
    name: call.name ?? '',
    argumentsText: call.argumentsText,
  }
}

function refusedCall(call: ReportToolCall, ordinal: number): RefusedCall {
  return {
    callId: call.callId,
    ordinal,
    name: call.name ?? '',
    code: call.code ?? 'batch_held',
    phase: 'call',
    reason: call.message ?? REASONS[call.code ?? 'batch_held'] ?? 'the call could not be released',
  }
}

/** For a model that reads it, where the report has no words of its own. */
const REASONS: Partial<Record<FaultCode, string>> = {
  batch_held: 'another call of the same answer could not be run, so this one was not either. Send all of them again.',
  arguments_suspect: 'the arguments seem to be cut off. Send the call again.',
}
