import { expect, test } from 'vitest'
import { GrowingList } from '../../src/json/growing-list.ts'

// 1024 items make a block, so this many cross several borders.
const LENGTH = 4000

test('gives back what was added, at every length', () => {
  const list = new GrowingList<string>()
  const items: string[] = []
  const wrong: number[] = []
  for (let at = 0; at < LENGTH; at++) {
    list.add(`item ${at}`)
    items.push(`item ${at}`)
    if (list.length !== at + 1 || list.at(at) !== `item ${at}` || list.at(at + 1) !== undefined) wrong.push(at)
  }
  expect(wrong).toEqual([])
  expect(Array.from({ length: LENGTH }, (_, at) => list.at(at))).toEqual(items)
})

test.each([-1, -1024, 0.5, 3, 1024, Number.NaN, Infinity, -Infinity])('there is nothing at %d', (index) => {
  const list = new GrowingList<string>()
  for (const item of ['a', 'b', 'c']) list.add(item)
  expect(list.at(index)).toBeUndefined()
})
