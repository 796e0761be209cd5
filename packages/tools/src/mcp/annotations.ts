import type { Effect } from '../define/tool.ts'

/** The hints of an MCP tool that are read here. A server may say what it likes in them. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

/**
 * The effect that a tool's hints claim. What they leave open counts as the worst, as the protocol has it: not read-only, not
 * idempotent.
 *
 * @see https://modelcontextprotocol.io/specification/2025-06-18/schema#toolannotations
 */
export function effectOf(annotations: ToolAnnotations | undefined): Effect {
  if (annotations?.readOnlyHint === true) return 'read'
  return annotations?.idempotentHint === true ? 'idempotent' : 'unsafe'
}

/** Hints for a tool of ours. The executor runs an operation once; a new call of an unsafe or queryable tool is a new operation. */
export function annotationsOf(effect: Effect): ToolAnnotations {
  return {
    readOnlyHint: effect === 'read',
    destructiveHint: effect === 'unsafe',
    idempotentHint: effect === 'read' || effect === 'idempotent',
  }
}
