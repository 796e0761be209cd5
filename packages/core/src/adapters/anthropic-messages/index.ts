export { anthropicMessages } from './adapter.ts'
export type { MessagesAdapterOptions } from './adapter.ts'
