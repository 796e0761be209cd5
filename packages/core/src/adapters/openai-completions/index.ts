export { completions } from './adapter.ts'
