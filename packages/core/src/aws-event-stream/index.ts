export { createAwsEventStreamParser } from './parse.ts'
export type { AwsEventStreamParser, AwsEventStreamParserOptions } from './parse.ts'
