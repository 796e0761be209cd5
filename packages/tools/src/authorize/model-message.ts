import { clip } from 'streamfold/json'
import type { SchemaIssue } from '../validate/validator.ts'

/** Lines about single values in one message; more distract a model from the first. */
export const MAX_MESSAGE_LINES = 5

const MAX_LINE_CHARS = 300

/** Tells a model what is wrong with its arguments: one line per value, `path: expected …`. */
export function schemaMessage(tool: string, issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, MAX_MESSAGE_LINES)
  const lines = shown.map(({ path, expected }) =>
    clip(`${path || '(arguments)'}: expected ${expected}`, MAX_LINE_CHARS),
  )
  const more = issues.length - shown.length
  const heading = `${clip(tool, 80)} was not run: its arguments do not fit its schema${more > 0 ? ` (${more} more not shown)` : ''}.`
  return [heading, ...lines].join('\n')
}

/** Tells a model that there is no such tool for it, and which there are. */
export function noSuchToolMessage(name: string, allowed: readonly string[]): string {
  const there = allowed.length === 0 ? 'There are none' : `There are ${clip(allowed.join(', '), MAX_LINE_CHARS)}`
  return `There is no tool ${JSON.stringify(clip(name, 80))} that you may call. ${there}.`
}
