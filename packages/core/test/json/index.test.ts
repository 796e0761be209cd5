import { expect, test } from 'vitest'
import * as json from '../../src/json/index.ts'

// Red means deliberate, not forbidden: change the list, and say so in a changeset.
test('the surface of json', () => {
  expect(Object.keys(json).toSorted()).toEqual([
    'DEFAULT_MAX_JSON_DEPTH',
    'MAX_STRICT_ISSUES',
    'clip',
    'createPartialJsonReader',
    'createWholenessScanner',
    'escapeControls',
    'isJsonObject',
    'openPath',
    'readStrict',
    'toPlain',
    'utf8Length',
  ])
})
