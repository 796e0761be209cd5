export { bedrockConverse } from './adapter.ts'
