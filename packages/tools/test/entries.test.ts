import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }

const SRC = fileURLToPath(new URL('../src', import.meta.url))

/** Every file with what it imports. */
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => {
    const text = readFileSync(join(SRC, file), 'utf8')
    const imports = [...text.matchAll(/^(?:import|export)\b[^'"]*\bfrom '([^']+)'|^import '([^']+)'/gm)]
    return { file: file.split(sep).join('/'), imports: imports.map((match) => match[1] ?? match[2] ?? '') }
  })

test('the entries are pinned', () => {
  expect(Object.keys(manifest.exports)).toEqual(['.', './mcp', './telemetry', './package.json'])
})

describe('optional peers are loaded by their own entry only', () => {
  test.each([
    ['@modelcontextprotocol/sdk', 'mcp/'],
    ['@opentelemetry/api', 'telemetry/'],
  ])('%s by %s', (peer, folder) => {
    const users = files.filter(({ imports }) => imports.some((name) => name === peer || name.startsWith(`${peer}/`)))
    expect(users.length).toBeGreaterThan(0)
    expect(users.map(({ file }) => file).filter((file) => !file.startsWith(folder))).toEqual([])
  })

  test('and nothing else imports those folders', () => {
    const outside = files.filter(({ file }) => !/^(?:mcp|telemetry)\//.test(file))
    expect(outside.filter(({ imports }) => imports.some((name) => /\/(?:mcp|telemetry)\//.test(name)))).toEqual([])
  })
})
