import type { PartialJson } from '../../src/json/partial-value.ts'

/**
 * A partial value as JSON text in which everything that is open lacks its closing quote or bracket: `{"a":["x` is an
 * object with an array with a string, all three open. Numbers are shown as the double they became.
 */
export function textOf(node: PartialJson | undefined): string {
  if (node === undefined) return ''
  switch (node.kind) {
    case 'string':
      return node.open ? JSON.stringify(node.text).slice(0, -1) : JSON.stringify(node.text)
    case 'array':
      return `[${[...node].map(textOf).join(',')}${node.open ? '' : ']'}`
    case 'object': {
      const members = [...node.entries()].map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`)
      return `{${members.join(',')}${node.open ? '' : '}'}`
    }
    case 'number':
    case 'boolean':
    case 'null':
      return numberText(node.value)
  }
}

/** A plain value as text that shows own `__proto__` keys and tells `-0` from `0`, on both of which deep equality stumbles. */
export function plainText(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'number' ? numberText(item) : item))
}

function numberText(value: number | boolean | null): string {
  return Object.is(value, -0) ? '-0' : String(value)
}
