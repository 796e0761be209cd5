export { createNodeFetch } from './node-fetch.ts'
export type { NodeFetch, NodeFetchOptions } from './node-fetch.ts'
