export { clip } from './clip.ts'
export { escapeControls } from './escape-controls.ts'
export { createPartialJsonReader } from './partial.ts'
export type { PartialJsonOptions, PartialJsonReader, PartialJsonState } from './partial.ts'
export { openPath, toPlain } from './partial-value.ts'
export type {
  PartialArray,
  PartialBoolean,
  PartialJson,
  PartialNull,
  PartialNumber,
  PartialObject,
  PartialString,
} from './partial-value.ts'
export { DEFAULT_MAX_JSON_DEPTH, MAX_STRICT_ISSUES, readStrict } from './strict.ts'
export type {
  StrictFailure,
  StrictFailureCode,
  StrictIssue,
  StrictIssueCode,
  StrictOptions,
  StrictResult,
  StrictSuccess,
} from './strict.ts'
export { utf8Length } from './utf8-length.ts'
export { isJsonObject } from './value.ts'
export type { JsonObject, JsonValue } from './value.ts'
export { createWholenessScanner } from './wholeness.ts'
export type { JsonWholeness, WholenessScanner } from './wholeness.ts'
