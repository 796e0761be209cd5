/**
 * Markup that a server should have parsed and printed instead. Only ever a finding: text may quote such markup, so nothing is
 * done on its account (faults F047, F188).
 */

const CALL_MARKS = [
  '<tool_call>',
  '<function=',
  '[TOOL_CALLS]',
  '<|python_tag|>',
  '<|tool_call',
  '<function_call>',
  '<tool_use>',
]

/** The whole text reads like one printed tool call. */
export function looksLikeToolCall(text: string): boolean {
  const start = text.slice(0, 200).trimStart()
  if (CALL_MARKS.some((mark) => start.startsWith(mark))) return true
  if (!/^(?:```(?:json)?\s*)?\{\s*"(?:name|function|tool|tool_name)"\s*:/.test(start)) return false
  return /"(?:arguments|parameters|args|input)"\s*:/.test(text.slice(0, 4000))
}

export function looksLikeThinking(text: string): boolean {
  return text.slice(0, 40).trimStart().startsWith('<think>')
}
