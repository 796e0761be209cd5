import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ThinkTagSplitter } from '../../../src/adapters/openai-chat/think-tags.ts'

const CONFIG = { seed: 3_141_592, numRuns: 300 }

function split(pieces: readonly string[]): { readonly reasoning: string; readonly text: string } {
  const splitter = new ThinkTagSplitter()
  const result = { reasoning: '', text: '' }
  for (const piece of [...pieces.flatMap((each) => splitter.push(each)), ...splitter.flush()]) {
    result[piece.reasoning ? 'reasoning' : 'text'] += piece.text
  }
  return result
}

/** Text rich in tags and pieces of tags. */
const taggedText = fc
  .array(fc.constantFrom('<think>', '</think>', '<th', 'ink>', '</', '<', '>', 'a', 'b ', '\n', 'think'), {
    maxLength: 10,
  })
  .map((parts) => parts.join(''))

describe('ThinkTagSplitter', () => {
  test('white space is held up to a bound: an answer may begin with much of it', () => {
    expect(split([' '.repeat(256), '<think>a</think>b'])).toEqual({ reasoning: 'a', text: 'b' })
    expect(split([' '.repeat(257), '<think>a</think>'])).toEqual({
      reasoning: '',
      text: `${' '.repeat(257)}<think>a</think>`,
    })
  })

  test.each([
    { whole: '<think>a</think>b', reasoning: 'a', text: 'b' },
    { whole: '\n <think>a</think>b', reasoning: 'a', text: 'b' },
    { whole: '<think></think>b', reasoning: '', text: 'b' },
    { whole: '<think>a < b </thin </think>c', reasoning: 'a < b </thin ', text: 'c' },
    { whole: '<think>a<think>b</think>c', reasoning: 'a<think>b', text: 'c' },
    { whole: '<think>never closed', reasoning: 'never closed', text: '' },
    { whole: '<think>a</think>b<think>c</think>d', reasoning: 'a', text: 'b<think>c</think>d' },
    { whole: 'a<think>b</think>', reasoning: '', text: 'a<think>b</think>' },
    { whole: '</think>b', reasoning: '', text: '</think>b' },
    { whole: '<thinking>b', reasoning: '', text: '<thinking>b' },
    { whole: '<thi', reasoning: '', text: '<thi' },
    { whole: '  ', reasoning: '', text: '  ' },
    { whole: '', reasoning: '', text: '' },
  ])('$whole, at every cut', ({ whole, reasoning, text }) => {
    for (let at = 0; at <= whole.length; at++)
      expect(split([whole.slice(0, at), whole.slice(at)])).toEqual({ reasoning, text })
    expect(split(Array.from(whole))).toEqual({ reasoning, text })
  })

  test('however it is cut it comes to the same, and nothing is lost or repeated', () => {
    fc.assert(
      fc.property(taggedText, fc.array(fc.nat(40), { maxLength: 5 }), (whole, cuts) => {
        const at = [0, ...cuts.filter((cut) => cut <= whole.length).toSorted((a, b) => a - b), whole.length]
        const uncut = split([whole])
        expect(split(at.slice(1).map((to, i) => whole.slice(at[i], to)))).toEqual(uncut)
        const opened = whole.trimStart().startsWith('<think>')
        const joined = opened
          ? `<think>${uncut.reasoning}${whole.includes('</think>') ? '</think>' : ''}${uncut.text}`
          : uncut.text
        expect(joined).toBe(opened ? whole.trimStart() : whole)
      }),
      CONFIG,
    )
  })

  test('what can be no tag is given out at once', () => {
    const splitter = new ThinkTagSplitter()
    expect(splitter.push('Answer <')).toEqual([{ reasoning: false, text: 'Answer <' }])
    const thinking = new ThinkTagSplitter()
    expect(thinking.push('<think>a <')).toEqual([{ reasoning: true, text: 'a ' }])
    expect(thinking.push(' b')).toEqual([{ reasoning: true, text: '< b' }])
  })
})
