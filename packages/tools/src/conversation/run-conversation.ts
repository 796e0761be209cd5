import { Conversation } from './conversation.ts'
import type { ConversationOptions } from './conversation-options.ts'
import type { ConversationResult } from './conversation-result.ts'
import type { Message } from './message.ts'
import { decodeAnswer } from './stored-answer.ts'
import { recordedResults } from './tool-messages.ts'

/**
 * Lets a model and its tools work until there is a final answer: model → tools → model. Only choice 0 is read.
 *
 * Every answer is in the ledger before a call of it is run, and every call before it has an effect. After a crash, or when
 * approvals were waited for, {@link resumeConversation} goes on under the same run id.
 *
 * @throws TypeError when the run is there already
 * @throws StoreError when the ledger can't be written; and whatever `model` or `onEvent` throws
 */
export async function runConversation(
  options: ConversationOptions & { readonly messages: readonly Message[] },
): Promise<ConversationResult> {
  const { executor, runId, messages } = options
  const conversation = new Conversation(options, messages)
  const known = await executor.ledger.readRun(executor.tenant, runId)
  if (known !== undefined) {
    throw new TypeError(`run ${runId} has begun already: go on with resumeConversation, or take another id`)
  }
  await executor.ledger.startRun(executor.tenant, runId, JSON.stringify({ v: 1, messages }))
  return await conversation.goOn(undefined)
}

/**
 * Goes on with a run where its ledger says it was: answers whose calls are not done are handed to the executor again, which
 * runs nothing twice; a request that was under way is made anew, as a new turn. A run that is finished gives its result again.
 *
 * @throws TypeError when there is no such run, or another version wrote it
 * @throws StoreError as {@link runConversation}
 */
export async function resumeConversation(options: ConversationOptions): Promise<ConversationResult> {
  const { executor, runId } = options
  const run = await executor.ledger.readRun(executor.tenant, runId)
  if (run === undefined || run.input === null) throw new TypeError(`there is no conversation ${runId}`)
  const conversation = new Conversation(options, messagesOf(run.input))
  // A turn without an answer was abandoned: nothing of it was ever run.
  const answered = run.turns.flatMap(({ turn, answer, calls }) => {
    return answer === null ? [] : [{ turn, answer: decodeAnswer(answer), calls }]
  })
  const last = answered.pop()
  for (const { turn, answer, calls } of answered) conversation.recall({ turn, answer }, recordedResults(answer, calls))
  if (last === undefined || last.turn === run.lastTurn) return await conversation.goOn(last)
  // A newer request was under way: the calls before it were done, and the executor takes none of that turn any more.
  conversation.recall(last, recordedResults(last.answer, last.calls))
  return await conversation.goOn(undefined)
}

function messagesOf(input: string): readonly Message[] {
  const started = JSON.parse(input) as { readonly v?: unknown; readonly messages?: readonly Message[] } | null
  if (started?.v !== 1 || !Array.isArray(started.messages)) {
    throw new TypeError('this run was started by another version of streamfold, or is no conversation')
  }
  return started.messages as readonly Message[]
}
