import type { Api, StreamReport } from 'streamfold'
import { clip } from 'streamfold/json'
import { createEventStreamParser } from 'streamfold/sse'
import type { Recording } from 'streamfold/recording'
import { counted } from '../counted.ts'
import { formatRecordings } from '../file/recording-file.ts'
import { reportOfRecording } from '../file/recording-report.ts'
import { PAGE_DATA_END, PAGE_DATA_START } from '../import/html-page.ts'

/** A page with more rows is slow to scroll, and nobody reads it. */
const MAX_ROWS = 2000
const MAX_CELL = 400

const STYLE = `
:root { color-scheme: light dark; font: 14px/1.45 system-ui, sans-serif }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #8884 }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
code { font: 12px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap }
.pass { color: #1a7f37 } .fail { color: #cf222e } .gap { background: #f5c51833 }
`

/**
 * One page that shows recordings: verdict, times, calls, and every event with its time and the gap before it. It has no
 * script and loads nothing; whatever came over the wire is text in it. The recordings are in it too, for an import.
 *
 * @throws RecordingError `body_encoded` for a body that still has its content coding on
 */
export function toHtml(recordings: readonly Recording[], { api }: { readonly api?: Api } = {}): string {
  const sections = recordings.map((recording) =>
    section(recording, reportOfRecording(recording, api === undefined ? {} : { api })),
  )
  return `<!doctype html>
<html lang="en" data-streamfold="recording">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>streamfold recording</title>
<style>${STYLE}</style>
</head>
<body>
${sections.join('\n')}
${PAGE_DATA_START}${dataOf(recordings)}${PAGE_DATA_END}
</body>
</html>
`
}

/** Inside a JSON text these may be written as escapes, and then nothing in it can end the element. */
function dataOf(recordings: readonly Recording[]): string {
  return formatRecordings(recordings).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function section(recording: Recording, report: StreamReport): string {
  const { request, response, head, end } = recording
  const { outcome, error, timing, counts, choices } = report
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['request', request === undefined ? undefined : `${request.method ?? ''} ${request.url ?? ''}`],
    ['recorded', [head.created, head.by].filter((part) => part !== undefined).join(' by ')],
    ['response', response === undefined ? undefined : String(response.status)],
    [
      'end',
      end === undefined
        ? 'none: the recorder stopped first'
        : [end.kind, end.code].filter((part) => part !== undefined).join(' '),
    ],
    [
      'body',
      `${counted(counts.bytes, 'byte')}, ${counted(recording.reads.length, 'read')}, ${counted(counts.events, 'event')}, ${counted(counts.comments, 'comment')}`,
    ],
    ['error', error === null ? undefined : `${error.code}: ${error.message}`],
  ]
  return `<h1>${text(outcome ?? 'open')}</h1>
${table(facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined))}
<h2>Verdict</h2>
<table>${Object.entries(report.verdict)
    .map(([rung, verdict]) => {
      const { state } = verdict as { readonly state: string }
      return `<tr><th>${text(rung)}</th><td class="${state === 'pass' || state === 'fail' ? state : ''}">${text(state)}</td></tr>`
    })
    .join('')}</table>
<h2>Times</h2>
${table(Object.entries(timing).map(([name, value]) => [name, value === null ? '–' : String(value)] as const))}
<h2>Calls</h2>
${callsTable(choices)}
<h2>Findings</h2>
${table(report.diagnostics.map(({ code, hint }) => [code, hint] as const))}
<h2>Events</h2>
${eventsTable(recording)}`
}

function callsTable(choices: StreamReport['choices']): string {
  const rows = choices.flatMap(({ toolCalls }) =>
    toolCalls.map(
      ({ callId, name, state, code, argumentsText }) =>
        `<tr><td>${text(callId)}</td><td>${text(name ?? '–')}</td><td>${text(state)}${code === null ? '' : ` (${text(code)})`}</td><td><code>${text(argumentsText)}</code></td></tr>`,
    ),
  )
  return rows.length === 0
    ? '<p>none</p>'
    : `<table><tr><th>id</th><th>name</th><th>state</th><th>arguments</th></tr>${rows.join('')}</table>`
}

/** A gap of this share of the whole time is worth a look. */
const LONG_GAP = 0.1

function eventsTable({ reads, end }: Recording): string {
  const parser = createEventStreamParser({ offsets: true })
  const rows: string[] = []
  const lastUs = end?.atUs ?? reads.at(-1)?.atUs ?? 0
  let count = 0
  let beforeUs: number | undefined
  for (const { bytes, atUs } of reads) {
    for (const { data, event, offset, endOffset } of parser.push(bytes)) {
      count++
      const gapUs = beforeUs === undefined ? 0 : atUs - beforeUs
      beforeUs = atUs
      if (count > MAX_ROWS) continue
      const long = lastUs > 0 && gapUs > LONG_GAP * lastUs
      rows.push(
        `<tr${long ? ' class="gap"' : ''}><td class="n">${count}</td><td class="n">${ms(atUs)}</td><td class="n">+${ms(gapUs)}</td><td class="n">${offset ?? ''}–${endOffset ?? ''}</td><td>${text(event ?? '')}</td><td><code>${text(data)}</code></td></tr>`,
      )
    }
  }
  if (count === 0) return '<p>none</p>'
  const rest = count > MAX_ROWS ? `<p>and ${count - MAX_ROWS} more</p>` : ''
  return `<table><tr><th>#</th><th>ms</th><th>gap</th><th>bytes</th><th>event</th><th>data</th></tr>${rows.join('\n')}</table>${rest}`
}

function table(rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return '<p>none</p>'
  return `<table>${rows.map(([name, value]) => `<tr><th>${text(name)}</th><td>${text(value)}</td></tr>`).join('')}</table>`
}

function ms(us: number): string {
  return (us / 1000).toFixed(1)
}

/** For an element's text or a quoted attribute; what comes from the wire goes through here. */
function text(value: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return clip(value, MAX_CELL).replaceAll(/[&<>"']/g, (character) => entities[character]!)
}
