export { pace } from './pace.ts'
export type { PaceClock, PaceOptions } from './pace.ts'
