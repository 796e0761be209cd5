import { expect, test } from 'vitest'
import { readJsonPath } from '../../../src/adapters/gemini/json-path.ts'

test.each<[string, (string | number)[]]>([
  ['$', []],
  ['$.a', ['a']],
  ['$.a.b_c-d', ['a', 'b_c-d']],
  ['$.a[0].b', ['a', 0, 'b']],
  ['$[12][0]', [12, 0]],
  ["$['a b']['c.d']", ['a b', 'c.d']],
  ['$["a"]["it\'s"]', ['a', "it's"]],
  ["$['it\\'s']['a\\\\b']['\\n']['\\u00e9']", ["it's", 'a\\b', '\n', 'é']],
  ["$['']", ['']],
  ['$.größe', ['größe']],
  ['$.__proto__', ['__proto__']],
])('%s', (path, steps) => {
  expect(readJsonPath(path)).toEqual(steps)
})

test.each([
  '',
  'a',
  '.a',
  '$a',
  '$.',
  '$..a',
  '$.*',
  '$[*]',
  '$[-1]',
  '$[01]',
  '$[1:2]',
  '$[?(@.a)]',
  '$[0',
  "$['a]",
  '$.a b',
  '$["a"]x',
  '$[1.5]',
  `$${'.a'.repeat(129)}`,
  '$[99999999999]',
])('%j names no one place', (path) => {
  expect(readJsonPath(path)).toBeUndefined()
})

test('a long path of the wrong kind is given up at once', () => {
  expect(readJsonPath(`$['${'\\'.repeat(100_001)}`)).toBeUndefined()
})
