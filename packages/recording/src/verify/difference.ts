/** The first place where two documents differ. */
export interface Difference {
  /** `report.choices[0].finish.raw`. */
  readonly path: string
  readonly expected: unknown
  readonly actual: unknown
}

export interface DifferenceOptions {
  /** Names of fields that are not compared, at whatever depth. */
  readonly except?: ReadonlySet<string>
}

/**
 * The first difference of two JSON documents in document order, or undefined. A field that is absent and one that is undefined are
 * the same: JSON can't tell them apart.
 */
export function firstDifference(
  expected: unknown,
  actual: unknown,
  { except = new Set() }: DifferenceOptions = {},
  path = '',
): Difference | undefined {
  if (Object.is(expected, actual)) return undefined
  if (!isContainer(expected) || !isContainer(actual) || Array.isArray(expected) !== Array.isArray(actual)) {
    return { path, expected, actual }
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let i = 0; i < Math.max(expected.length, actual.length); i++) {
      const found = firstDifference(expected[i], actual[i], { except }, `${path}[${i}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    if (except.has(key)) continue
    const inner = path === '' ? key : `${path}.${key}`
    const found = firstDifference(own(expected, key), own(actual, key), { except }, inner)
    if (found !== undefined) return found
  }
  return undefined
}

function own(holder: object, key: string): unknown {
  return Object.hasOwn(holder, key) ? (holder as Record<string, unknown>)[key] : undefined
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
