import type { Api } from '../chunk/api.ts'

/** One element of `messages`, `input` or `contents` of a request, ready to be written as JSON. */
export type RequestMessage = Readonly<Record<string, unknown>>

/** The wire formats that have a history of messages. */
export type HistoryApi = Exclude<Api, 'completions'>
