export { createStreamAccumulator } from './accumulator.ts'
export type { StreamAccumulator } from './accumulator.ts'
export type { ChoiceSnapshot, ProviderMetadata, StreamSnapshot } from './snapshot.ts'
