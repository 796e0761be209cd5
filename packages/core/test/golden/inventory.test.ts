import { describe, expect, test } from 'vitest'
import { CLASSES } from './intent.ts'
import { listFiles, listFolders } from './sample.ts'

describe('golden samples: what is there', () => {
  test('the folders are the classes, and the ten classes of a stream test set are among them', () => {
    expect([...listFolders()].toSorted()).toEqual(CLASSES.map(({ folder }) => folder).toSorted())
    expect(CLASSES.slice(0, 10).map(({ folder }) => folder)).toEqual([
      'chat-completions/split-lines',
      'chat-completions/read-boundaries',
      'chat-completions/split-characters',
      'chat-completions/call-fields',
      'chat-completions/interleaved-calls',
      'chat-completions/argument-text',
      'chat-completions/finish',
      'chat-completions/ends',
      'chat-completions/bursts',
      'chat-completions/bad-fields',
    ])
  })

  test.each(CLASSES)(
    '$folder: every sample has an intent and an expected file, and the other way round',
    ({ folder, intents }) => {
      const { samples, expected } = listFiles(folder)
      const names = Object.keys(intents).toSorted()
      expect(names.length).toBeGreaterThan(3)
      expect([...samples.keys()].toSorted()).toEqual(names)
      expect(expected.toSorted()).toEqual(names)
    },
  )

  test('there are many', () => {
    expect(CLASSES.reduce((count, { intents }) => count + Object.keys(intents).length, 0)).toBeGreaterThanOrEqual(60)
  })
})
