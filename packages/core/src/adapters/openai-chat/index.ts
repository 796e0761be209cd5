export { chatCompletions } from './adapter.ts'
export type { ChatAdapterOptions } from './adapter.ts'
