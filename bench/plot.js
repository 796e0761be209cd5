import { writeFileSync } from 'node:fs'

/** Bars on a logarithmic scale, one panel per table: an SVG without any script. */
export function writePlot(file, panels) {
  const width = 860
  const bar = 20
  let y = 10
  const parts = []
  for (const { title, measured } of panels) {
    parts.push(text(10, (y += 18), title, 'bold'))
    const most = Math.max(...measured.map(({ median }) => median))
    const least = Math.min(...measured.map(({ median }) => median)) / 2
    for (const { name, median } of measured) {
      const length = 20 + (420 * Math.log(median / least)) / Math.log(most / least)
      const fill = name.startsWith('streamfold') ? '#1b6' : name.includes('limit') ? '#999' : '#48b'
      parts.push(text(10, (y += bar), name))
      parts.push(`<rect x="330" y="${y - 12}" width="${length.toFixed(1)}" height="14" fill="${fill}"/>`)
      parts.push(text(336 + length, y, `${median.toPrecision(3)} ms`))
    }
    y += 14
  }
  writeFileSync(
    file,
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y + 10}" font-family="sans-serif" font-size="12">${parts.join('')}</svg>\n`,
  )
}

function text(x, y, content, weight = 'normal') {
  const safe = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x.toFixed(1)}" y="${y}" font-weight="${weight}">${safe}</text>`
}
