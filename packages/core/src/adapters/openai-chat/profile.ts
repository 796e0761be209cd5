import type { ArgumentRepair } from '../../chunk/argument-repair.ts'
import type { FinishReason } from '../../chunk/finish-reason.ts'
import type { Evidence } from '../adapter.ts'

/**
 * What a Chat Completions server is known to do differently, as plain data. The default is strict wherever a guess could run
 * the wrong call.
 */
export interface ChatProfile {
  /** `[DONE]` must be seen for a clean end. Default `required`. */
  readonly sentinel?: Evidence
  /** A finish reason must be seen for a clean end. Default `required`. */
  readonly finishReason?: Evidence
  /** Further finish reasons of this server, exact spelling. */
  readonly finishAliases?: Readonly<Record<string, FinishReason>>
  /** How a second, different piece of a tool name is read: as a conflict, or as its continuation. Default `verify`. */
  readonly nameMerge?: 'verify' | 'append'
  /** What a changed id inside an open call means. Default `conflict`. */
  readonly idChange?: 'conflict' | 'keep-first'
  /** Every text delta holds the whole text so far (fault F060). Never detected, only declared. Default false. */
  readonly cumulativeText?: boolean
  /** Text between `<think>` and `</think>` is reasoning (fault F047). Default false. */
  readonly thinkTags?: boolean
  /** Named argument repairs, tried in this order on a call that does not parse. Default none. */
  readonly repairs?: readonly ArgumentRepair[]
}
