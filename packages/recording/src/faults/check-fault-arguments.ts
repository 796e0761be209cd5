import { recordingOfBody, scriptOf } from '../replay/replay-script.ts'
import { applyFaults } from './apply-faults.ts'
import type { FaultSpec } from './fault-spec.ts'

/** Two fragments of a call: a place for most faults. */
const BODY = [
  '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]}}]}',
  '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}',
  '{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}',
  '[DONE]',
]
  .map((data) => `data: ${data}\n\n`)
  .join('')

/**
 * Tries faults before a long run: names and arguments are only looked at where a fault strikes, which one that seldom happens may
 * never do.
 *
 * @throws ReplaySyntaxError for a fault or an argument that is not known
 */
export function checkFaultArguments(plans: readonly (readonly FaultSpec[])[]): void {
  const script = scriptOf(recordingOfBody(new TextEncoder().encode(BODY)))
  for (const { probability: _, ...fault } of plans.flat()) applyFaults(script, [fault], { api: 'chat_completions' })
}
