import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readProfileOption } from '../src/profile-option.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'streamfold-profile-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('--profile', () => {
  test('a built-in name brings its wire format with it', async () => {
    expect(await readProfileOption('perplexity')).toEqual({
      api: 'chat_completions',
      profile: { sentinel: 'optional' },
    })
  })

  test('a JSON file', async () => {
    const file = join(folder, 'mine.json')
    await writeFile(file, '{"repairs":["trailing-data"]}')
    expect(await readProfileOption(file)).toEqual({ profile: { repairs: ['trailing-data'] } })
  })

  test.each([
    ['perplexty', /^--profile perplexty: no built-in profile "perplexty"; known are openai, /],
    ['./no-such-file.json', /^--profile \.\/no-such-file\.json: no such file$/],
  ])('%s is a misuse', async (text, message) => {
    expect(await readProfileOption(text)).toEqual({ misuse: expect.stringMatching(message) })
  })

  test.each([
    ['{', /JSON/],
    ['[]', /a profile must be an object/],
    ['{"sentinal":"optional"}', /no field "sentinal"; known are sentinel, /],
    ['{"sentinel":"maybe"}', /sentinel must be one of required, optional/],
  ])('a file that says %s is a misuse', async (text, message) => {
    const file = join(folder, 'wrong.json')
    await writeFile(file, text)
    expect(await readProfileOption(file)).toEqual({ misuse: expect.stringMatching(message) })
  })
})
