import { expect, test } from 'vitest'
import { isJsonObject } from '../../src/json/value.ts'

test.each([
  { text: '{}', want: true },
  { text: '{"length":0}', want: true },
  { text: '[]', want: false },
  { text: 'null', want: false },
  { text: '"{}"', want: false },
  { text: '1', want: false },
  { text: 'true', want: false },
])('isJsonObject($text) is $want', ({ text, want }) => {
  expect(isJsonObject(JSON.parse(text))).toBe(want)
})
