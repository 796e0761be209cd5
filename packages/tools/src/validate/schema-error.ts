import type { SchemaFinding } from './lint-schema.ts'

/** A tool's schema can't be used. Thrown when the tool is defined, never while a call is checked. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
  /** What is wrong with it, all of it. */
  readonly findings: readonly SchemaFinding[]

  constructor(message: string, findings: readonly SchemaFinding[] = [], options?: { cause?: unknown }) {
    super(message, options)
    this.findings = findings
  }
}
