import type { ArgumentRepair } from '../chunk/argument-repair.ts'
import type { FinishReason } from '../chunk/finish-reason.ts'
import type { Evidence } from './adapter.ts'

/**
 * What one server is known to do differently from the documentation of its wire format, as plain data: it can be kept in a JSON
 * file. An adapter reads the fields that its format can show and leaves the others alone. The default is strict wherever a guess
 * could run the wrong call.
 */
export interface ProviderProfile {
  /** The wire's terminal signal (`[DONE]`, a stop event) must be seen for a clean end. Default `required`. */
  readonly sentinel?: Evidence
  /** A finish reason must be seen for a clean end. Default `required`. */
  readonly finishReason?: Evidence
  /** Further finish reasons of this server, exact spelling. */
  readonly finishAliases?: Readonly<Record<string, FinishReason>>
  /** How a second, different piece of a tool name is read: as a conflict, or as its continuation. Default `verify`. */
  readonly nameMerge?: 'verify' | 'append'
  /** What a changed id inside an open call means. Default `conflict`. */
  readonly idChange?: 'conflict' | 'keep-first'
  /** `ignore`: the index of a call's fragments means nothing (always 0), ids alone tell the calls apart (fault F065). Default `use`. */
  readonly toolIndex?: 'use' | 'ignore'
  /** Every text delta holds the whole text so far (fault F060). Never detected, only declared. Default false. */
  readonly cumulativeText?: boolean
  /** Text between `<think>` and `</think>` is reasoning (fault F047). Default false. */
  readonly thinkTags?: boolean
  /** Named argument repairs, tried in this order on a call that does not parse. Default none. */
  readonly repairs?: readonly ArgumentRepair[]
}
