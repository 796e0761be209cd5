export { ollama } from './adapter.ts'
