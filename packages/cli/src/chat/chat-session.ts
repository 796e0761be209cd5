import { createGate, createGatedExecutor, resumeConversation, runConversation } from '@streamfold/tools'
import type {
  Approval,
  ApprovalDecision,
  ConversationExecutor,
  ConversationModel,
  ConversationOptions,
  ConversationResult,
  Executor,
  Ledger,
  Message,
  Policy,
  PolicyHook,
  Tool,
} from '@streamfold/tools'
import type { StreamReport } from 'streamfold'
import { clip } from 'streamfold/json'
import { LOCAL_TENANT } from '../ledger-address.ts'
import type { ChatView } from './chat-view.ts'
import { observedGate, observedLedger } from './observed-calls.ts'

/** Who says yes to a call. */
export type ApprovalMode = 'ask' | 'always' | 'never'

export interface ChatSessionOptions {
  /** Names the chat in the ledger; each prompt of it is a run of its own. */
  readonly chatId: string
  /** Prompts that the ledger has of this chat already. */
  readonly begun: number
  readonly ledger: Ledger
  readonly model: ConversationModel
  readonly tools: readonly Tool[]
  readonly approve: ApprovalMode
  readonly view: ChatView
  /** A person's answer to a question; `undefined` at the end of the input or after an interrupt. */
  readonly ask: (label: string, question: string) => Promise<string | undefined>
  readonly signal: AbortSignal
  /** Told of every answer with calls, completed by what came of them. */
  readonly onReport: (report: StreamReport) => void
  readonly onError: (error: unknown) => void
}

export interface ResumedChat {
  readonly result: ConversationResult
  /** Something was still to be done, and has been shown; otherwise the chat had been answered. */
  readonly live: boolean
}

/** For `--approve never`; without it a call would be said to wait for a person whom nobody asks. */
const NOTHING_RUNS: PolicyHook = {
  name: 'chat --approve never',
  decide: () => ({
    decision: 'deny',
    reason: 'chat --approve never',
    tellModel: 'This chat runs no calls (--approve never); with --approve ask a person decides.',
  }),
}

// Only what another process holds is waited for; a lease that nobody renews ends before that.
const WAIT_MS = 60_000

/** Prompt after prompt with one model: every prompt is a run in the ledger, begun with everything that was said before. */
export class ChatSession {
  readonly #options: ChatSessionOptions
  readonly #executor: Executor
  readonly #conversing: ConversationExecutor
  #history: readonly Message[] = []
  #runs: number
  /** Something was shown since it was last set to false. */
  #live = false
  #asking: Promise<unknown> = Promise.resolve()

  constructor(options: ChatSessionOptions) {
    this.#options = options
    this.#runs = options.begun
    const { tools, view, approve } = options
    const onStep = view.step.bind(view)
    const decision = approve === 'always' ? 'allow' : 'ask'
    const policy: Policy = {
      revision: `chat --approve ${approve}`,
      rules: [{ tools: '*', decision }],
      hooks: approve === 'never' ? [NOTHING_RUNS] : [],
    }
    const ledger = observedLedger(options.ledger, onStep)
    const executor = createGatedExecutor({
      gate: observedGate(createGate({ tools, policy }), onStep),
      tools: tools.map(({ name }) => name),
      ledger,
      tenant: LOCAL_TENANT,
      waitMs: WAIT_MS,
      approve: (approval) => this.#decide(approval),
      onBackgroundError: options.onError,
    })
    this.#executor = executor
    this.#conversing = {
      tenant: LOCAL_TENANT,
      tools,
      ledger,
      // Without the signal: what has begun comes to its end and is recorded, so that going on later finds it done.
      run: (batch, { runId, turn }) => executor.run(batch, { runId, turn }),
    }
  }

  /** Asks the model, and lets it work until it has answered. */
  async prompt(text: string): Promise<ConversationResult> {
    const before = this.#history
    const messages: readonly Message[] = [...before, { role: 'user', content: text }]
    this.#runs += 1
    const result = await runConversation({ ...this.#conversation(this.#runs), messages })
    // A prompt that was never answered is no part of what was said.
    this.#history = result.messages.length > messages.length ? result.messages : before
    return result
  }

  /** Goes on with the last prompt that the ledger has. */
  async resume(): Promise<ResumedChat> {
    // What a process that is gone has left under way.
    await this.#executor.recover()
    this.#live = false
    const result = await resumeConversation(this.#conversation(this.#runs))
    this.#history = result.messages
    return { result, live: this.#live }
  }

  /** Waits for tools that run. */
  async close(): Promise<void> {
    await this.#executor.close()
  }

  #conversation(run: number): ConversationOptions {
    const { chatId, model, signal, view, onReport } = this.#options
    return {
      model,
      executor: this.#conversing,
      runId: runIdOf(chatId, run),
      signal,
      onEvent: (event) => {
        this.#live = true
        view.event(event)
        if (event.type === 'tool_results' && event.report !== undefined) onReport(event.report)
      },
    }
  }

  /** One question at a time; no answer is a no, except that an interrupt leaves the question open. */
  #decide(approval: Approval): Promise<ApprovalDecision | undefined> {
    const { approve, ask, signal } = this.#options
    if (approve === 'never') return Promise.resolve({ decision: 'deny', by: 'chat --approve never' })
    const decide = async (): Promise<ApprovalDecision | undefined> => {
      const answer = await ask('run it?', `${approval.tool}(${clip(approval.shownJson, 500)}) [y/N] `)
      if (signal.aborted) return undefined
      const yes = /^\s*y(?:es)?\s*$/i.test(answer ?? '')
      return { decision: yes ? 'allow' : 'deny', by: 'terminal' }
    }
    const decided = this.#asking.then(decide)
    this.#asking = decided.catch(() => {})
    return decided
  }
}

/** How many prompts of a chat the ledger has; none when it knows no such chat. */
export async function promptsBegun(ledger: Ledger, chatId: string): Promise<number> {
  let last = 0
  while ((await ledger.readRun(LOCAL_TENANT, runIdOf(chatId, last + 1))) !== undefined) last += 1
  return last
}

function runIdOf(chatId: string, run: number): string {
  return `${chatId}.${run}`
}
