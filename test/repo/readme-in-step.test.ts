/** README.zh-CN.md says what README.md says: same sections, same code, same links, same numbers. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DEFAULT_LIMITS } from 'streamfold/chunk'
import { DEFAULT_TIMEOUTS } from 'streamfold/engine'
import { describe, expect, test } from 'vitest'

interface Section {
  readonly level: number
  readonly code: readonly string[]
  readonly links: readonly string[]
  readonly listItems: number
  /** Code in running text: names of options, codes and commands, in any order. */
  readonly names: readonly string[]
  readonly numbers: readonly string[]
}

const FENCE = /^```[\s\S]*?^```$/gm
const MIB = 1024 ** 2

const read = (name: string) => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8')
/** Each page links to the other one. */
const toOtherLanguage = (target: string) => (/^README(\.zh-CN)?\.md$/.test(target) ? 'README' : target)

function sectionsOf(page: string): readonly Section[] {
  const code = page.match(FENCE) ?? []
  let block = 0
  // Headings are looked for outside of code only, where `#` begins a comment.
  return page
    .replaceAll(FENCE, '\u0000')
    .split(/^(?=#+ )/m)
    .map((section) => {
      const text = section.replaceAll(/\]\(([^)]+)\)/g, ']')
      return {
        level: /^#+/.exec(section)![0].length,
        code: section
          .split('\u0000')
          .slice(1)
          .map(() => code[block++]!),
        links: [...section.matchAll(/\]\(([^)]+)\)/g)].map((match) => toOtherLanguage(match[1]!)).toSorted(),
        listItems: section.match(/^- /gm)?.length ?? 0,
        names: [...new Set([...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!))].toSorted(),
        numbers: [...new Set(text.replaceAll(/`[^`]*`/g, '').match(/\d+(\.\d+)*/g))].toSorted(),
      }
    })
}

const english = sectionsOf(read('README.md'))
const chinese = sectionsOf(read('README.zh-CN.md'))
const title = (i: number) =>
  read('README.md')
    .replaceAll(FENCE, '')
    .match(/^#+ .+$/gm)![i]!

test('the headings have the same levels in the same order', () => {
  expect(chinese.map(({ level }) => level)).toEqual(english.map(({ level }) => level))
  expect(english.length).toBeGreaterThan(10)
})

describe.each(english.map((section, i) => ({ section, other: chinese[i], name: title(i) })))(
  '$name',
  ({ section, other }) => {
    test('has the same code blocks', () => {
      expect(other?.code).toEqual(section.code)
    })

    test('has the same links, list items, names and numbers', () => {
      const { code: _, ...rest } = section
      expect(other).toMatchObject(rest)
    })
  },
)

test.each(['README.md', 'README.zh-CN.md'])('the limits and timers in %s are those of the code', (name) => {
  const { connectMs, firstByteMs, idleMs, progressMs, finishGraceMs } = DEFAULT_TIMEOUTS
  const { eventBytes, argumentBytes, callsPerChoice, choices, streamBytes, jsonDepth } = DEFAULT_LIMITS
  const cells = read(name)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cell) => /^\d+( MiB| s)?$/.test(cell))
  expect(choices, 'the table names one number for both').toBe(callsPerChoice)
  expect(cells).toEqual([
    `${eventBytes / MIB} MiB`,
    `${connectMs / 1000} s`,
    `${argumentBytes / MIB} MiB`,
    `${firstByteMs / 1000} s`,
    `${callsPerChoice}`,
    `${idleMs / 1000} s`,
    `${streamBytes / MIB} MiB`,
    `${progressMs / 1000} s`,
    `${jsonDepth}`,
    `${finishGraceMs / 1000} s`,
  ])
})
