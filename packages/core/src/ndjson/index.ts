export { createJsonLinesParser } from './parse.ts'
export type { JsonLinesParser, JsonLinesParserOptions } from './parse.ts'
