import * as fc from 'fast-check'
import type { StreamChunk } from '../../src/chunk/chunk.ts'
import type { ContentBlock } from '../../src/chunk/content-block.ts'

/** Any chunk, over few choices and blocks, so that they meet; nothing says that it fits what came before. */
export const anyChunk: fc.Arbitrary<StreamChunk> = fc
  .record({
    kind: fc.constantFrom(
      'text',
      'text',
      'reasoning',
      'refusal',
      'call',
      'call',
      'open',
      'end',
      'end-block',
      'start',
      'usage',
      'replace',
      'append',
      'finish',
      'error',
    ),
    choice: fc.constantFrom(undefined, 0, 1, 3),
    index: fc.nat({ max: 3 }),
    text: fc.constantFrom('', 'a', 'bc', '日', '😀'),
    name: fc.constantFrom(undefined, 'f'),
    restated: fc.constantFrom<ContentBlock['type']>('text', 'reasoning', 'opaque', 'tool-call'),
    kept: fc.constantFrom(undefined, { a: 1 }, { a: 2, b: 'x' }),
  })
  .map(({ kind, choice, index, text, name, restated, kept }): StreamChunk => {
    const metadata = kept === undefined ? {} : { metadata: kept }
    const at = choice === undefined ? { index } : { choice, index }
    const of = choice === undefined ? {} : { choice }
    switch (kind) {
      case 'text':
      case 'reasoning':
      case 'refusal':
        return { type: `${kind}-delta`, ...at, text }
      case 'call':
        return {
          type: 'tool-call-delta',
          ...at,
          id: `c${choice ?? 0}.${index}`,
          ...(name !== undefined && { name }),
          argumentsDelta: text,
          ...metadata,
        }
      case 'open':
        return { type: 'block-start', ...at, blockType: restated, ...metadata }
      case 'end':
        return { type: 'block-end', ...at, ...metadata }
      case 'end-block':
        return { type: 'block-end', ...at, block: { ...blockOf(restated, index, text), ...metadata } }
      case 'start':
        return { type: 'start', id: `r${index}`, ...(name !== undefined && { model: text }) }
      case 'usage':
        return { type: 'usage', usage: { outputTokens: index } }
      case 'replace':
        return { type: 'metadata', ...of, replace: { [`k${index}`]: text } }
      case 'append':
        return { type: 'metadata', ...of, append: { [`l${index}`]: [text, index] } }
      case 'finish':
        return { type: 'finish', ...of, reason: 'stop', raw: text }
      case 'error':
        return { type: 'error', error: { code: 'upstream_error', phase: 'delta', message: 'x', retryable: 'yes' } }
    }
  })

function blockOf(type: ContentBlock['type'], index: number, text: string): ContentBlock {
  if (type !== 'tool-call') return { type, index, text, status: 'done' }
  return { type, index, callId: `restated.${index}`, name: 'g', argumentsText: text, status: 'done' }
}
