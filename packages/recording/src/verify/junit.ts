import type { SampleFailure } from './check-sample.ts'
import type { VerifyDocument } from './verify.ts'

/** The result as JUnit XML, which every CI shows: one test case per sample. */
export function junitOf({ samples, totals }: VerifyDocument): string {
  const cases = samples.map(({ name, failures, unexpected }) => {
    const open = `    <testcase classname="streamfold verify" name="${escape(name)}">`
    if (failures.length === 0 && !unexpected) return open.replace(/>$/, '/>')
    const inner = failures.map(
      (failure) =>
        `      <failure type="${failure.kind}" message="${escape(failure.message)}">${escape(failureText(failure))}</failure>`,
    )
    if (failures.length === 0) inner.push('      <skipped message="no expected file yet"/>')
    return [open, ...inner, '    </testcase>'].join('\n')
  })
  const skipped = samples.filter(({ failures, unexpected }) => unexpected && failures.length === 0).length
  const counts = `tests="${totals.samples}" failures="${totals.failed}" skipped="${skipped}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="streamfold verify" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

/** A failure in a few lines: what was expected, what came, and how to see it again. */
export function failureText({ message, plan, fault, difference }: SampleFailure): string {
  const lines = [message]
  if (fault !== undefined) lines.push(`fault ${fault}`)
  if (plan !== undefined) lines.push(`plan ${plan}`)
  if (difference !== undefined) {
    const { path, expected, actual } = difference
    lines.push(`at ${path}`, `  expected ${shown(expected)}`, `  actual   ${shown(actual)}`)
  }
  return lines.join('\n')
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** XML 1.0 has no way to write most control characters. */
function escape(text: string): string {
  return (
    text
      // eslint-disable-next-line no-control-regex -- control characters are what is taken out
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
  )
}
