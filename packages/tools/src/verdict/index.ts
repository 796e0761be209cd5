export { reportWithResults } from './report-with-results.ts'
export type { ChoiceResults } from './report-with-results.ts'
