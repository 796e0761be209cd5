export { chatCompletions } from './adapter.ts'
export type { ChatAdapterOptions } from './adapter.ts'
export type { ChatProfile } from './profile.ts'
