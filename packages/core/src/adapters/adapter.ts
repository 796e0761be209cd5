import type { ArgumentRepair } from '../chunk/argument-repair.ts'
import type { DiagnosticCode } from '../chunk/diagnostic.ts'
import type { StreamChunk } from '../chunk/chunk.ts'
import type { ServerSentEvent } from '../sse/event.ts'
import type { StreamLimits } from '../chunk/limits.ts'
import type { RequestFacts } from '../chunk/request-facts.ts'

/** How a wire format says that nothing more will come. Shared code reads this, never a vendor's name. */
export type Terminator = 'done-sentinel' | 'stop-event' | 'end-of-body'

/** Whether the end evidence of a wire format must be seen; a profile may relax what its server is known not to send. */
export type Evidence = 'required' | 'optional'

/** A wire format: a value, so that formats which are not used are shaken away. */
export interface StreamAdapter {
  /** Name of the wire format as it appears in reports, `chat_completions` for example. */
  readonly api: string
  readonly terminator: Terminator
  /** Must the terminator be seen for a clean end? */
  readonly sentinel: Evidence
  /** Must a finish reason be seen for a clean end? */
  readonly finishReason: Evidence
  /** Named argument repairs this profile asks for; none by default. */
  readonly repairs: readonly ArgumentRepair[]
  /** Data of a few events as servers send them, text and a call. An engine that has read them is kept, which spares streams a cold start. */
  readonly sample?: readonly string[]
  /** Starts one response. */
  open(context: AdapterContext): AdapterMachine
}

export interface AdapterContext {
  readonly request: RequestFacts
  readonly limits: StreamLimits
  /** Seed for minted call ids; give each run and attempt its own. */
  readonly idSeed: string
}

/** Reads the events of one response. Synchronous; never throws on wire content. */
export interface AdapterMachine {
  push(event: ServerSentEvent, out: AdapterOutput): void
  /** The wire has ended, whatever the reason: gives out what was held back, last the `finish` of each choice. */
  end(out: AdapterOutput): void
  /** The wire's own terminal signal was seen. */
  readonly ended: boolean
  /** The choices that were opened, also those that have said nothing yet. */
  readonly choices: Iterable<number>
  /** Every choice that was opened has a finish reason; only the terminal signal is awaited. */
  readonly finished: boolean
  /** The body was one whole JSON completion, for which no terminator is due. */
  readonly wholeCompletion: boolean
  /**
   * After an in-band error the wire may still say what was used, and in which words it closes the response; this reads nothing else.
   * It gives out `usage` and `finish` chunks.
   */
  readUsageOnly(event: ServerSentEvent, out: AdapterOutput): void
}

/**
 * Where an adapter writes. One object is reused for a whole stream: the caller reads `chunks` and `skipped` after each push
 * and clears them with {@link AdapterOutput.clear}.
 */
export class AdapterOutput {
  readonly chunks: StreamChunk[] = []
  /** Events that could not be read; each is a hole in the evidence. */
  readonly skipped: SkippedEvent[] = []
  readonly #note: (code: DiagnosticCode, detail?: string) => void

  constructor(note: (code: DiagnosticCode, detail?: string) => void) {
    this.#note = note
  }

  /** Records a finding at the current event. */
  note(code: DiagnosticCode, detail?: string): void {
    this.#note(code, detail)
  }

  clear(): void {
    // Nearly always there is one: popping it is cheaper than setting the length.
    while (this.chunks.length > 0) this.chunks.pop()
    if (this.skipped.length > 0) this.skipped.length = 0
  }
}

export interface SkippedEvent {
  /** What is wrong with it, with a clipped excerpt. */
  readonly message: string
}
