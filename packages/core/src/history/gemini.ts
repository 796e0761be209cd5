import { readStrict } from '../json/strict.ts'
import { isJsonObject } from '../json/value.ts'
import type { JsonObject } from '../json/value.ts'
import type { CallResult } from './call-result.ts'
import type { RequestMessage } from './request-message.ts'
import type { CallPart, ProviderCallPart, Turn } from './turn.ts'

/**
 * A content of the model with its parts in their order, and one of the user with all responses. A thought signature goes back on
 * the part that it came with (fault F179); thoughts without one are summaries, which mean nothing to the model.
 *
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function geminiContents(turn: Turn): readonly RequestMessage[] {
  const parts: RequestMessage[] = []
  for (const part of turn.parts) {
    switch (part.kind) {
      case 'text':
      case 'refusal': {
        const signed = signatureOf(part.metadata)
        if (part.text !== '' || signed['thoughtSignature'] !== undefined) parts.push({ text: part.text, ...signed })
        break
      }
      case 'reasoning': {
        const signed = signatureOf(part.metadata)
        if (signed['thoughtSignature'] === undefined) turn.drop(part.block, 'no_proof')
        else parts.push({ text: part.text, thought: true, ...signed })
        break
      }
      case 'opaque':
        if (part.whole) parts.push(part.metadata)
        else turn.drop(part.block, 'cut_off')
        break
      case 'call':
        parts.push({
          functionCall: { ...idOf(part), name: part.name, args: part.input },
          ...signatureOf(part.metadata),
        })
        break
      case 'provider-call': {
        const sent = providerPart(part)
        if (sent === undefined) turn.drop(part.block, 'cut_off')
        else parts.push(sent)
        break
      }
      case 'gap':
        break
    }
  }
  if (parts.length === 0) return []
  const content = { role: 'model', parts }
  return turn.calls.length === 0 ? [content] : [content, { role: 'user', parts: turn.calls.map(responseOf) }]
}

function responseOf(part: CallPart): RequestMessage {
  return { functionResponse: { ...idOf(part), name: part.name, response: valueOf(part.result) } }
}

/** Calls have an id only on the servers that gave them one. */
function idOf({ id, block }: CallPart): RequestMessage {
  return block.providerCallId === undefined ? {} : { id }
}

function signatureOf({ thoughtSignature }: Readonly<Record<string, unknown>>): RequestMessage {
  return typeof thoughtSignature === 'string' ? { thoughtSignature } : {}
}

/** A response is an object; `error` is the key that says that it failed. */
function valueOf({ content, isError }: CallResult): JsonObject {
  const read = readStrict(content)
  const value = read.ok ? read.value : content
  if (isError === true) return { error: value }
  return isJsonObject(value) ? value : { result: value }
}

function providerPart({ whole, block, name, input, metadata }: ProviderCallPart): RequestMessage | undefined {
  const { part } = metadata
  if (!whole) return undefined
  const id = block.providerCallId === undefined ? {} : { id: block.providerCallId }
  if (part === 'executableCode') return { executableCode: { ...id, ...input }, ...signatureOf(metadata) }
  if (part === 'toolCall') return { toolCall: { ...id, toolType: name, args: input }, ...signatureOf(metadata) }
  return undefined
}
