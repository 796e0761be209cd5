import { ImportError } from './import-error.ts'

/** Around the recording in an exported page. */
export const PAGE_DATA_START = '<script type="application/x-ndjson" id="recording">\n'
export const PAGE_DATA_END = '</script>'

/** The text of the recording that an exported page carries. */
export function recordingInPage(html: string): string {
  const from = html.indexOf(PAGE_DATA_START)
  const to = html.indexOf(PAGE_DATA_END, from)
  if (from < 0 || to < 0) throw new ImportError('the page holds no recording; only pages that were exported here do')
  return html.slice(from + PAGE_DATA_START.length, to)
}
