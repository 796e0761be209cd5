export { responses } from './adapter.ts'
