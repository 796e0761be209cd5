export { cohere } from './adapter.ts'
