/** One step of a path: a key of an object, or an index of an array. */
export type PathStep = string | number

/** More steps than any honest arguments have. */
const MOST_STEPS = 128

/**
 * The normal form of a JSONPath, and the dotted one that is used in practice: `$.a[0].b`, `$['a']["b c"]`. Undefined for anything
 * else: a path that selects several places (`*`, `..`, a slice, a filter) can't say where a value belongs.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9535
 */
export function readJsonPath(path: string): readonly PathStep[] | undefined {
  if (!path.startsWith('$')) return undefined
  const steps: PathStep[] = []
  let at = 1
  while (at < path.length) {
    STEP.lastIndex = at
    const match = STEP.exec(path)
    if (match === null || steps.length >= MOST_STEPS) return undefined
    const { dotted, index, single, double } = match.groups!
    if (dotted !== undefined) steps.push(dotted)
    else if (index !== undefined) steps.push(Number(index))
    else steps.push(unescaped(single ?? double ?? ''))
    at = STEP.lastIndex
  }
  return steps
}

const STEP =
  /\.(?<dotted>[^.[\]*\s]+)|\[(?:(?<index>0|[1-9]\d{0,8})|'(?<single>(?:[^'\\]|\\.)*)'|"(?<double>(?:[^"\\]|\\.)*)")\]/y

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, hex: string | undefined, char: string | undefined) =>
    hex === undefined ? (CONTROLS[char!] ?? char!) : String.fromCharCode(parseInt(hex, 16)),
  )
}

const CONTROLS: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
})
