import type { ToolResult } from '../src/executor/tool-result.ts'
import type { PlannedRun } from './plan.ts'

export const TENANT = 'crash'

/** What a worker process is told, as JSON in the environment variable `STREAMFOLD_CRASH`. */
export interface Orders {
  readonly store: string
  readonly outside: string
  readonly runs: readonly PlannedRun[]
  /** Executors in this process. */
  readonly executors: number
  readonly leaseMs: number
  /** Where to die: the n-th time that the point is passed. */
  readonly die?: { readonly point: string; readonly nth: number }
  /** Pages that the file may grow by; then the disk is full. */
  readonly roomPages?: number
  /** Run everything again whose lease ended, without keys: what queues do. */
  readonly leaseRetry: boolean
  readonly seed: number
}

/** What it says on its standard output, one JSON document per line. */
export type Said =
  | {
      readonly said: 'results'
      readonly runId: string
      readonly done: boolean
      readonly results: readonly ToolResult[]
    }
  | { readonly said: 'cancelled'; readonly runId: string; readonly callIds: readonly string[] }
  /** The store is open; work begins. */
  | { readonly said: 'ready' }
  | { readonly said: 'dying'; readonly point: string }
  | { readonly said: 'full' }
