import { fork } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { groups } from './targets/list.js'
import { writePlot } from './plot.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    targets: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string', default: '9' },
    plot: { type: 'string' },
  },
})
const named = [...(values.only?.split(',') ?? []), ...positionals]
const only = named.length === 0 ? undefined : named
const chosen = groups
  .map((group, index) => ({ ...group, index }))
  .filter(({ target }) => only === undefined || only.includes(target))

if (process.send !== undefined) {
  // A child: one group, alone in its process.
  const { rounds } = values
  const group = groups[Number(process.env.STREAMFOLD_BENCH_GROUP)]
  process.send(await group.run({ rounds: Number(rounds) }))
  process.disconnect()
} else {
  console.log(
    `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}; node ${process.version}; ${values.rounds} rounds`,
  )
  const missed = []
  const plotted = []
  for (const group of chosen) {
    const measured = await inChild(group.index)
    console.log(`\n${group.target}  ${group.title}`)
    if (Array.isArray(measured) && !values.targets) table(measured)
    if (Array.isArray(measured)) plotted.push({ title: `${group.target} ${group.title}`, measured })
    for (const { what, value, op, target, unit } of group.checks(measured)) {
      if (op === undefined) {
        console.log(`         ${what}: ${figure(value)}${unit === 'x' ? 'x' : ` ${unit}`}`)
        continue
      }
      const ok = op === '<=' ? value <= target : value >= target
      if (!ok) missed.push(`${group.target} ${what}`)
      console.log(
        `  ${ok ? 'ok    ' : 'MISSED'} ${what}: ${figure(value)}${unit === 'x' ? 'x' : ` ${unit}`} (target ${op} ${target})`,
      )
    }
  }
  if (values.plot !== undefined) writePlot(values.plot, plotted)
  console.log(missed.length === 0 ? '\nevery target is met' : `\n${missed.length} missed: ${missed.join('; ')}`)
  if (values.targets && missed.length > 0) process.exitCode = 1
}

function inChild(index) {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['--rounds', values.rounds], {
      execArgv: ['--expose-gc'],
      env: { ...process.env, STREAMFOLD_BENCH_GROUP: String(index) },
    })
    let result
    child.on('message', (message) => (result = message))
    child.on('exit', (code) =>
      code === 0 && result !== undefined ? resolve(result) : reject(new Error(`group ${index} failed`)),
    )
  })
}

function table(measured) {
  const first = measured[0]
  for (const { name, median, min, samples } of measured) {
    const spread = (100 * (Math.max(...samples) - min)) / median
    console.log(
      `  ${name.padEnd(44)} ${figure(median).padStart(9)} ms  best ${figure(min).padStart(9)} ms  ${(median / first.median).toFixed(2).padStart(7)}x  spread ${spread.toFixed(0)} %`,
    )
  }
}

function figure(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
