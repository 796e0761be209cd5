/** docs/diagnosis.md lists hints, times and questions; here they are compared with those that there are. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chatCompletions, createStreamEngine } from 'streamfold'
import { HINTS, logLineOf } from 'streamfold/engine'
import { expect, test } from 'vitest'
import { QUESTIONS } from '../../packages/recording/src/checklist/questions.ts'

const page = readFileSync(fileURLToPath(new URL('../../docs/diagnosis.md', import.meta.url)), 'utf8')

/** Names in ticks in the first column of the table with this header. */
function names(header: string): readonly string[] {
  const lines = page.split('\n')
  const start = lines.findIndex((line) => line.split('|')[1]?.trim() === header)
  expect(start, `a table with the header "${header}"`).toBeGreaterThan(-1)
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'))
  return lines
    .slice(start + 2, start + length)
    .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!))
}

const report = createStreamEngine({ adapter: chatCompletions() }).report()

test('every hint has its row, and every row its hint', () => {
  expect(names('Code').toSorted()).toEqual(Object.keys(HINTS).toSorted())
})

test('every time has its row, and every row its time', () => {
  const { timeToConnectMs: _, ...timing } = report.timing
  const listed = names('Field').map((name) => name.replace(/\[\].*$/, ''))
  expect(listed.toSorted()).toEqual(Object.keys(timing).toSorted())
})

test('every question has its row, in order', () => {
  expect(names('Question')).toEqual(QUESTIONS.map(({ id }) => id))
})

test('the fields of a log line are listed', () => {
  const listed = /Its fields are `([^`]+)`/.exec(page)![1]!.split(/\s+/)
  expect(listed.toSorted()).toEqual(Object.keys(logLineOf(report)).toSorted())
})
