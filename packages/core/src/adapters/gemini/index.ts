export { gemini } from './adapter.ts'
