import { describe, expect, test } from 'vitest'
import { argumentFaultOf } from '../../src/engine/argument-fault.ts'

describe('argumentFaultOf', () => {
  test.each(['', '  ', '{}', '{"a":"}{"}', '[1]', '"just text"'])('%j has no fault', (text) => {
    expect(argumentFaultOf(text)).toBeUndefined()
  })

  test.each([
    ['{"city":"Par', 'cut', 'the text ends after 12 characters, inside the object'],
    ['{"a":{"b":[1', 'cut', 'the text ends after 12 characters, inside the object'],
    ['{"a":1}{"b":2}', 'merged', 'behind a whole object, another one begins at character 7'],
    ['{"a":1} {"a":1', 'merged', 'behind a whole object, another one begins at character 8'],
    ['{"a":{}}{"a":{}}', 'merged', 'behind a whole object, another one begins at character 8'],
    ['{"a":{"b":1', 'cut', 'the text ends after 11 characters, inside the object'],
    ['{"a":1,{"b":2}}', 'merged', 'another object begins at character 7, inside the first one'],
    ['"{\\"a\\":1}"', 'escaped', 'the arguments are a JSON string that holds the arguments'],
    ['{\\"a\\":1}', 'escaped', 'a quote is escaped outside of any string, first at character 1'],
    ['{"a":"x\ny"}', 'escaped', 'a control character stands in a string as it is, first at character 7'],
    ['{"a":1}</tool_call>', 'broken', 'something follows a whole object at character 7'],
    ['{"a":1]', 'broken', 'no JSON from character 6 on'],
    ["{'a':1}", 'broken', 'no JSON from character 1 on'],
    ['{"a":"x\ny", oops}', 'broken', 'no JSON from character 7 on'],
  ])('%j → %s', (text, kind, evidence) => {
    expect(argumentFaultOf(text)).toEqual({ kind, evidence })
  })

  test('the cost grows with the text, not with its brackets', () => {
    const text = `{"a":[${'{},'.repeat(200_000)}`
    expect(argumentFaultOf(text)?.kind).toBe('cut')
    expect(argumentFaultOf(`${text}]}`)).toEqual({
      kind: 'broken',
      evidence: `no JSON from character ${text.length} on`,
    })
  })
})
